import CWebImageGTK4
import Foundation
import Glibc
import TestSupport
import WebImage
import WebImageGTK

/// Programs that end during work. A process has one end, so these are not tests.
@MainActor
enum Endings {
    /// Quits while a store hangs.
    static func quitWhileStuck() {
        var config = ImageCacheConfig()
        let disk = StuckDisk()
        config.makeDiskCache = { _, _ in disk }
        let cache = ImageCache(directory: "/nowhere", config: config)
        run(exitSeconds: 0.3) { application in
            cache.store(ImageStoreRequest(key: "k", data: Data([1])), completion: nil)
            guard disk.waitUntilStuck() else { exit(1) }
            print("quits")
            g_application_quit(application)
        }
        print("has ended")
        exit(0)
    }

    /// Is ended by SIGTERM while it loads and stores.
    static func terminate(_ directory: String) {
        var config = ImageCacheConfig()
        config.maxDiskAge = 0
        let cache = ImageCache(directory: directory, config: config)
        let loader = ClosureImageLoader(canLoad: { _, _ in true }) { _, _ in
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
        var context = WebImageContext()
        context.customManager = WebImageManager(cache: cache, loader: loader)
        var codes: [String] = []
        var windows: [UnsafeMutablePointer<GtkWindow>] = []
        let status = run(quitSignals: [SIGTERM, SIGKILL], exitSeconds: 20) { application in
            guard let picture = gtk_picture_new(),
                let window = gtk_application_window_new(
                    UnsafeMutableRawPointer(application).assumingMemoryBound(to: GtkApplication.self)
                )
            else { exit(70) }
            let shown = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
            windows.append(shown)
            gtk_window_set_child(shown, picture)
            gtk_window_present(shown)
            picture.setImage(with: URL(string: "test://picture"), context: context) { result in
                codes.append(Self.isCancelled(result) ? "cancelled" : "another end")
            }
            cache.store(ImageStoreRequest(key: "k", data: Data([1, 2, 3])), completion: nil)
            kill(getpid(), SIGTERM)
        }
        print("status \(status)")
        print("stored \(cache.diskStatistics.storeCount), left \(cache.totalDiskCount)")
        print("loads \(codes)")
        for window in windows { gtk_window_destroy(window) }
        print("loads \(codes)")
        exit(0)
    }

    private static func isCancelled(_ result: Result<WebImageResult, WebImageError>) -> Bool {
        if case .failure(let error) = result { error.code == .cancelled } else { false }
    }

    @discardableResult
    private static func run(
        quitSignals: [Int32] = [],
        exitSeconds: Double,
        activated: @escaping @MainActor (UnsafeMutablePointer<GApplication>) -> Void
    ) -> Int32 {
        guard let application = gtk_application_new("test.webimage.Ending", webimage_gtk_application_non_unique) else {
            exit(70)
        }
        WebImageLifecycle.connect(to: application, quitSignals: quitSignals, exitSeconds: exitSeconds)
        WebImageLifecycle.connect(to: application)
        let base = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        Signal("activate", of: base) { activated(base) }
        return g_application_run(base, 0, nil)
    }
}

/// A disk that hangs in a store.
private final class StuckDisk: DiskCaching {
    private let isStuck = Monitor(false)

    /// Waits until a store begins.
    func waitUntilStuck() -> Bool { isStuck.wait { $0 ? true : nil } ?? false }

    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
        isStuck.withLock { $0 = true }
        while true { pause() }
    }

    let path = "/nowhere"
    func cachePath(forKey key: String) -> String { path }
    func entry(forKey key: String) -> CachedImageData? { nil }
    func containsData(forKey key: String) -> Bool { false }
    func removeData(forKey key: String) {}
    func removeAllData() {}
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup { DiskCacheCleanup() }
    func usage() -> (count: Int, size: Int) { (0, 0) }
    func apply(_ config: ImageCacheConfig) {}
}
