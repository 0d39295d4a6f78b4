import CWebImageGTK4

/// Asks the user for a folder or for files.
@MainActor
enum SourceChooser {
    /// The kind of source to choose.
    enum Kind {
        case folder
        /// Images, and text files with URLs.
        case files
    }

    /// - Parameter chosen: called with the paths, unless the user cancels.
    static func run(_ kind: Kind, over window: Widget, _ chosen: @escaping @MainActor ([String]) -> Void) {
        webimage_gtk_choose_files(
            window.cast(),
            kind == .folder ? "Open a folder" : "Open images or URL lists",
            kind == .folder ? 1 : 0,
            { files, box in
                nonisolated(unsafe) let (files, box) = (files, box)
                MainActor.assumeIsolated { SourceChooser.end(files, box) }
            },
            Unmanaged.passRetained(Box(chosen)).toOpaque()
        )
    }

    /// - Parameter files: nil if the user cancelled.
    private static func end(_ files: OpaquePointer?, _ box: UnsafeMutableRawPointer?) {
        guard let box else { return }
        let body = Unmanaged<Box>.fromOpaque(box).takeRetainedValue()
        if let files { body.chosen(paths(of: files)) }
    }

    private static func paths(of files: OpaquePointer) -> [String] {
        (0..<g_list_model_get_n_items(files)).compactMap { index in
            guard let file = g_list_model_get_item(files, index) else { return nil }
            defer { g_object_unref(file) }
            guard let path = g_file_get_path(OpaquePointer(file)) else { return nil }
            defer { g_free(path) }
            return String(cString: path)
        }
    }

    private final class Box: Sendable {
        let chosen: @MainActor ([String]) -> Void
        init(_ chosen: @escaping @MainActor ([String]) -> Void) { self.chosen = chosen }
    }
}
