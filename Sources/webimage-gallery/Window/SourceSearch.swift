import Dispatch

/// A search for the images of sources that has begun on a background thread.
final class StartedSearch: Sendable {
    /// Written before the group is left, and read afterwards.
    nonisolated(unsafe) private var list = ImageList([])
    private let group = DispatchGroup()

    init(_ sources: [String]) {
        group.enter()
        DispatchQueue.global().async { [self] in
            list = ImageList(sources)
            group.leave()
        }
    }

    /// Returns the images once all are found.
    func wait() -> ImageList {
        group.wait()
        return list
    }
}

/// Finds the images of sources on a background thread that may block.
enum SourceSearch {
    /// - Parameter found: called on the main thread.
    @MainActor
    static func begin(_ sources: [String], _ found: @escaping @MainActor (ImageList) -> Void) {
        let box = Box(found)
        DispatchQueue.global().async {
            let list = ImageList(sources)
            DispatchQueue.main.async { MainActor.assumeIsolated { box.found(list) } }
        }
    }

    private final class Box: Sendable {
        let found: @MainActor (ImageList) -> Void
        init(_ found: @escaping @MainActor (ImageList) -> Void) { self.found = found }
    }
}
