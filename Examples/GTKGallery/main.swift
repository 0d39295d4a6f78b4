// A grid of 500 remote images: GTKGallery [PATTERN], where {} in the pattern is the number of an image.
import CWebImageGTK4
import FoundationEssentials
import Glibc
import WebImage
import WebImageGTK

/// The window: a grid whose cells are GtkPictures that the library fills.
@MainActor
final class Gallery {
    private let pattern: String
    private let count = 500
    /// Ends the program once so many images have loaded or failed; nil for never. For tests.
    private let quitsAfter: Int?
    private let application: UnsafeMutablePointer<GtkApplication>
    private var window: UnsafeMutablePointer<GtkWindow>?
    private var loaded: Set<Int> = []
    private(set) var failed: Set<Int> = []

    init(pattern: String, quitsAfter: Int?, application: UnsafeMutablePointer<GtkApplication>) {
        self.pattern = pattern
        self.quitsAfter = quitsAfter
        self.application = application
    }

    func open() {
        guard let window = gtk_application_window_new(application), let grid = makeGrid(),
            let scroller = gtk_scrolled_window_new()
        else { return }
        gtk_scrolled_window_set_child(OpaquePointer(scroller), grid)
        let base = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_title(base, "\(count) images")
        gtk_window_set_default_size(base, 1000, 700)
        gtk_window_set_child(base, scroller)
        gtk_window_present(base)
        self.window = base
    }

    private func makeGrid() -> UnsafeMutablePointer<GtkWidget>? {
        // Any GListModel will do. Here its items are the URLs.
        let model = gtk_string_list_new(nil)
        for number in 0..<count { gtk_string_list_append(model, pattern.replacing("{}", with: "\(number)")) }

        // Loads what is on the screen first, and ahead in the direction of scrolling. Images are decoded for the size of the cells. The factory
        // keeps the loader.
        let loader = ListImageLoader { _, item in
            gtk_string_object_get_string(OpaquePointer(item)).flatMap { URL(string: String(cString: $0)) }
        }
        loader.placeholder = { _ in .icon(name: "image-loading-symbolic") }
        loader.completed = { [weak self] position, result in self?.loadEnded(position, result) }
        let selection = gtk_no_selection_new(model)
        let grid = gtk_grid_view_new(selection, loader.makeFactory(cellWidth: 160, cellHeight: 120))
        gtk_grid_view_set_max_columns(OpaquePointer(grid), 12)
        return grid
    }

    private func loadEnded(_ position: Int, _ result: Result<WebImageResult, WebImageError>) {
        switch result {
        case .success: loaded.insert(position)
        // A cell that is scrolled away cancels its load.
        case .failure(let error) where error.code == .cancelled: return
        case .failure(let error):
            failed.insert(position)
            print("image \(position): \(error)")
        }
        gtk_window_set_title(window, summary)
        if let quitsAfter, loaded.count + failed.count >= quitsAfter {
            g_application_quit(UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self))
        }
    }

    var summary: String { "\(loaded.count) of \(count) images loaded, \(failed.count) failed" }
}

var words = CommandLine.arguments.dropFirst()
var quitsAfter: Int?
if words.first == "--quit-after" {
    quitsAfter = words.dropFirst().first.flatMap { Int($0) }
    words = words.dropFirst(2)
}
guard gtk_init_check() != 0, let application = gtk_application_new(nil, GApplicationFlags(rawValue: 0)) else {
    print("there is no display to open a window on")
    exit(69)
}
// Writes what waits for the disk cache when the program ends, and shrinks the caches when memory is short or no window is visible.
WebImageLifecycle.connect(to: application, quitSignals: [SIGINT, SIGTERM])

let pattern = words.first ?? "https://picsum.photos/seed/{}/400/300"
let gallery = Gallery(pattern: pattern, quitsAfter: quitsAfter, application: application)
let activate: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void = { _, _ in
    // GTK calls on the main thread.
    MainActor.assumeIsolated { gallery.open() }
}
g_signal_connect_data(
    application,
    "activate",
    unsafeBitCast(activate, to: GCallback.self),
    nil,
    nil,
    GConnectFlags(rawValue: 0)
)
let status = g_application_run(UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), 0, nil)
print(gallery.summary)
exit(gallery.failed.isEmpty ? status : 1)
