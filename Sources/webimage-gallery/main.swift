import CWebImageGTK4
import Glibc
import WebImage
import WebImageFormats
import WebImageGTK

/// The program, from its arguments to its exit status.
@MainActor
final class Gallery {
    /// The name of the desktop entry in `Packaging/data`. A placeholder until the project is published.
    private static let identifier = "org.example.webimage.Gallery"

    private let arguments: Arguments
    private let list: ImageList
    private let cache: ImageCache
    private let manager: WebImageManager
    /// The manager of the grid. It reads the desktop's thumbnails; the viewer shows the files themselves.
    private let thumbnails: WebImageManager
    private let application: UnsafeMutablePointer<GtkApplication>
    private var window: GalleryWindow?
    private var exitCode: Int32 = 0

    /// - Parameter search: The search for the images of the arguments.
    init?(_ arguments: Arguments, _ search: StartedSearch) {
        self.arguments = arguments
        cache = arguments.cacheDirectory.map { ImageCache(directory: $0) } ?? .shared
        ImageLoadersManager.shared.add(GIOImageLoader.shared)
        manager = Self.makeManager(cache, arguments)
        thumbnails = Self.makeManager(cache, arguments)
        thumbnails.desktopThumbnails = .shared
        // The desktop finds a window's name and icon by the application id, on X11 by the program name.
        g_set_prgname(Self.identifier)
        gtk_window_set_default_icon_name(Self.identifier)
        // Each start is a separate process: a screenshot must not go to a window that is already open.
        guard let application = gtk_application_new(Self.identifier, webimage_gtk_application_non_unique) else {
            return nil
        }
        self.application = application
        list = search.wait()
    }

    private static func makeManager(_ cache: ImageCache, _ arguments: Arguments) -> WebImageManager {
        let manager = WebImageManager(cache: cache)
        // Images come from untrusted sources. A decoder that hangs or crashes only fails its own image.
        manager.decoding = arguments.decoding
        manager.optionsProcessor = WebImageOptionsProcessor { url, options, context in
            // Only images from the web are copied into the disk cache.
            guard let scheme = url?.scheme?.lowercased(), scheme != "http", scheme != "https" else { return nil }
            var context = context
            context.storeCacheType = .memory
            context.originalStoreCacheType = ImageCacheType.none
            return WebImageOptionsResult(options: options, context: context)
        }
        return manager
    }

    func run() -> Int32 {
        for complaint in list.complaints {
            Arguments.complain(complaint)
            exitCode = 1
        }
        WebImageLifecycle.connect(to: application, quitSignals: [SIGINT, SIGTERM])
        Signal("activate", of: UnsafeMutableRawPointer(application)) { [self] in activate() }
        let status = g_application_run(
            UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self),
            0,
            nil
        )
        return status == 0 ? exitCode : status
    }

    private func activate() {
        Appearance.install(isDark: arguments.isDark)
        if arguments.screenshot != nil { Appearance.stopAnimations() }
        let window = GalleryWindow(
            application: application,
            manager: manager,
            thumbnails: thumbnails,
            cache: cache,
            arguments
        )
        self.window = window
        window.show(list.items)
        if let number = arguments.viewer {
            if number > list.items.count {
                let count = list.items.count
                Arguments.complain("--viewer \(number): there \(count == 1 ? "is 1 image" : "are \(count) images")")
                exitCode = 1
            }
            window.open(number - 1)
        }
        if arguments.screenshot == nil { window.notice.show(list.complaints) }
        if arguments.showsCache { window.showCache() }
        gtk_window_present(window.widget.cast())
        if arguments.endsWithFirstScreen { endWithFirstScreen(window) }
        if let path = arguments.screenshot { Task { await shoot(window, path) } }
    }

    private func endWithFirstScreen(_ window: GalleryWindow) {
        guard list.items.isEmpty else { return FirstScreen.end(window) }
        Arguments.complain("--first-screen: there are no images")
        exitCode = 1
        gtk_window_destroy(window.widget.cast())
    }

    private func shoot(_ window: GalleryWindow, _ path: String) async {
        if arguments.showsCache { await window.cachePage.count() }
        let isSettled = await Screenshot.settle(window)
        guard !window.isClosed else {
            Arguments.complain("the window was closed before all images were loaded")
            exitCode = 1
            return
        }
        if !isSettled {
            Arguments.complain("some images were not loaded after 60 seconds")
            exitCode = 1
        }
        var failures = window.grid.failures
        if let item = window.viewer.item, let error = window.viewer.error, !failures.contains(where: { $0.0 == item }) {
            failures.append((item, error))
        }
        for (_, error) in failures {
            Arguments.complain(PlainText.line("\(error)", most: 500))
            exitCode = 1
        }
        if !Screenshot.write(window.widget, to: path) {
            Arguments.complain("\(path): cannot write the screenshot")
            exitCode = 1
        }
        gtk_window_destroy(window.widget.cast())
    }
}

WebImageFormats.registerAll()
// The program starts itself as a decoder process. That process does nothing else.
DecodeWorker.runIfRequested()
let arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
// A decoder process starts and folders are read while GTK starts.
arguments.decoding.isolation?.prepare()
let search = StartedSearch(arguments.sources)
Appearance.chooseRenderer()
guard gtk_init_check() != 0 else {
    Arguments.complain("no display is available")
    exit(69)
}
guard let gallery = Gallery(arguments, search) else { exit(70) }
exit(gallery.run())
