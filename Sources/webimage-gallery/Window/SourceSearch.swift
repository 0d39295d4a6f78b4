import Dispatch

/// Finds the images of sources on a background thread that may block.
enum SourceSearch {
    /// - Parameter found: called on the main thread.
    @MainActor
    static func begin(_ sources: [String], _ found: @escaping @MainActor (PictureList) -> Void) {
        let box = Box(found)
        DispatchQueue.global().async {
            let list = PictureList(sources)
            DispatchQueue.main.async { MainActor.assumeIsolated { box.found(list) } }
        }
    }

    private final class Box: Sendable {
        let found: @MainActor (PictureList) -> Void
        init(_ found: @escaping @MainActor (PictureList) -> Void) { self.found = found }
    }
}
