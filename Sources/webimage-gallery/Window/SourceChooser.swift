import CWebImageGTK4

/// Asks for a folder, or for files.
@MainActor
enum SourceChooser {
    /// What is asked for.
    enum Kind {
        case folder
        /// Pictures, and text files with addresses.
        case files
    }

    /// - Parameter chosen: called with the paths, unless the user thinks better of it.
    static func run(_ kind: Kind, over window: Widget, _ chosen: @escaping @MainActor ([String]) -> Void) {
        webimage_gtk_choose_files(
            window.cast(),
            kind == .folder ? "Open a folder" : "Open pictures or lists",
            kind == .folder ? 1 : 0,
            { files, box in
                nonisolated(unsafe) let (files, box) = (files, box)
                MainActor.assumeIsolated { SourceChooser.end(files, box) }
            },
            Unmanaged.passRetained(Box(chosen)).toOpaque()
        )
    }

    /// - Parameter files: nil when the user thought better of it.
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
