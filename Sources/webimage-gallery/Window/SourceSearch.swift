import Dispatch

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
