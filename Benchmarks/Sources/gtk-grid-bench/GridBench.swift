import BenchSupport
import CBenchGTK
import FoundationEssentials
import WebImage
import WebImageGTK

/// A grid of remote pictures that is scrolled without a pause.
///
/// `gtk-grid-bench URL COUNT SECONDS`: shows COUNT pictures `URL/0.jpg`… in cells of 160 × 120, five in a row, and scrolls from end to end
/// and back, for SECONDS each at 120 and at 400 pixels per frame, and then both again; before each, the caches are emptied. The colour
/// in the middle of a picture is its number. What each cell on the screen shows is looked at after every frame, and of all cells at rest.
///
/// `gtk-grid-bench zoom FILE WAIT SECONDS`: see ``ZoomBench``.
@main @MainActor struct GridBench {
    static let speeds = [120, 400]

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "zoom" { return ZoomBench.run(Array(arguments.dropFirst())) }
        guard arguments.count == 3, let count = Int(arguments[1]), let seconds = Double(arguments[2]) else {
            Measurement.stop("usage: gtk-grid-bench URL COUNT SECONDS")
        }
        guard gtk_init_check() != 0 else { Measurement.stop("there is no display") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "gtk-grid-bench-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var config = ImageCacheConfig()
        // A screenful and the cells around it several times over, but not all.
        config.maxMemoryCost = 300 * 160 * 120 * 3
        let cache = ImageCache(directory: folder.path, config: config)
        let manager = WebImageManager(cache: cache)
        let grid = Grid(address: arguments[0], count: count, manager: manager)
        let frames = FrameMeter(of: grid.window)
        frames.afterFrame = { grid.checkVisible() }
        // The first frames bring in code, fonts and the first pictures.
        turn(for: 1)
        for pass in 1...2 {
            for speed in speeds {
                empty(cache)
                frames.begin("\(speed)")
                grid.speed = speed
                turn(for: seconds)
                grid.speed = 0
                frames.end()
            }
            Measurement.report(pass == 1 ? "rss-first" : "rss-last", Measurement.residentMegabytes(), "MB")
        }
        let isQuiet = turn(for: 30) { grid.isLoaded }
        grid.checkAll()
        frames.report()
        grid.report(isQuiet: isQuiet)
        // Its frames are work of the main thread, too.
        grid.close()
        DeliveryCost.measure(address: arguments[0], count: min(count, 250), manager: manager) { empty(cache) }
    }

    private static func empty(_ cache: ImageCache) {
        var isDone = false
        Task {
            await cache.clear(.all)
            isDone = true
        }
        turn(for: 10) { isDone }
    }

    /// Lets the main loop run.
    ///
    /// - Parameter milliseconds: how often a loop that has nothing to do looks at the clock.
    @discardableResult
    static func turn(for seconds: Double, every milliseconds: UInt32 = 10, until condition: () -> Bool = { false })
        -> Bool
    {
        let end = Measurement.now() + seconds
        let timer = g_timeout_add(milliseconds, { _ in 1 }, nil)
        defer { g_source_remove(timer) }
        while Measurement.now() < end {
            g_main_context_iteration(nil, 1)
            if condition() { return true }
        }
        return false
    }
}
