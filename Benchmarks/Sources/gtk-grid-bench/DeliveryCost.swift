import BenchSupport
import CBenchGTK
import FoundationEssentials
import Glibc
import WebImage
import WebImageGTK

/// What a picture takes of the main thread, from the call to the view that has it, drawing left out: the views are in no window.
@MainActor
enum DeliveryCost {
    private static let turns = 7

    /// Loads pictures over the network, then the same again from memory, in turns: the medians.
    static func measure(address: String, count: Int, manager: WebImageManager, emptyCache: () -> Void) {
        let urls = (0..<count).compactMap { URL(string: "\(address)/\($0).jpg") }
        var (remote, memory): ([Double], [Double]) = ([], [])
        for _ in 0..<turns {
            emptyCache()
            remote.append(cost(of: urls, manager))
            memory.append(cost(of: urls, manager))
        }
        Measurement.report("delivery-remote", Measurement.median(remote), "ms")
        Measurement.report("delivery-memory", Measurement.median(memory), "ms")
    }

    /// Milliseconds per picture.
    private static func cost(of urls: [URL], _ manager: WebImageManager) -> Double {
        let views = urls.map { _ in makeView() }
        defer { for view in views { g_object_unref(view) } }
        var context = WebImageContext()
        context.customManager = manager
        var (loaded, failed) = (0, 0)
        let start = threadTime()
        for (view, url) in zip(views, urls) {
            view.setImage(with: url, context: context) { result in
                if case .success = result { loaded += 1 } else { failed += 1 }
            }
        }
        // Deliveries wake the loop; what else does so would count as theirs.
        GridBench.turn(for: 60, every: 1000) { loaded + failed == urls.count }
        let seconds = threadTime() - start
        guard loaded == urls.count else { Measurement.stop("\(urls.count - loaded) pictures did not come") }
        return seconds * 1000 / Double(urls.count)
    }

    private static func makeView() -> UnsafeMutableRawPointer {
        guard let view = gtk_picture_new() else { Measurement.stop("no view") }
        gtk_widget_set_size_request(view, 160, 120)
        return g_object_ref_sink(view)
    }

    /// Processor time of the calling thread, in seconds.
    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
