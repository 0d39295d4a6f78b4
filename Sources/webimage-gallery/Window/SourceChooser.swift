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
        guard
            let chooser = gtk_file_chooser_native_new(
                kind == .folder ? "Open a folder" : "Open pictures or lists",
                window.cast(),
                kind == .folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN,
                nil,
                nil
            )
        else { return }
        gtk_native_dialog_set_modal(UnsafeMutableRawPointer(chooser).assumingMemoryBound(to: GtkNativeDialog.self), 1)
        gtk_file_chooser_set_select_multiple(chooser, kind == .files ? 1 : 0)
        typealias Call = @convention(c) (OpaquePointer, gint, UnsafeMutableRawPointer) -> Void
        let response: Call = { chooser, answer, box in
            nonisolated(unsafe) let chooserPointer = chooser
            nonisolated(unsafe) let boxPointer = box
            MainActor.assumeIsolated { SourceChooser.end(chooserPointer, answer, boxPointer) }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(chooser),
            "response",
            unsafeBitCast(response, to: GCallback.self),
            Unmanaged.passRetained(Box(chosen)).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        gtk_native_dialog_show(UnsafeMutableRawPointer(chooser).assumingMemoryBound(to: GtkNativeDialog.self))
    }

    private static func end(_ chooser: OpaquePointer, _ answer: gint, _ box: UnsafeMutableRawPointer) {
        let body = Unmanaged<Box>.fromOpaque(box).takeRetainedValue()
        if answer == GTK_RESPONSE_ACCEPT.rawValue { body.chosen(paths(of: chooser)) }
        g_object_unref(UnsafeMutableRawPointer(chooser))
    }

    private static func paths(of chooser: OpaquePointer) -> [String] {
        guard let files = gtk_file_chooser_get_files(chooser) else { return [] }
        defer { g_object_unref(UnsafeMutableRawPointer(files)) }
        return (0..<g_list_model_get_n_items(files)).compactMap { index in
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
