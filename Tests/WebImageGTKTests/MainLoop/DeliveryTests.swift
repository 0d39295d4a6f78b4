import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Deliveries from other threads to widgets, along with GTK's own work.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct DeliveryTests {
    let bench: ViewBench

    init() throws { bench = try ViewBench() }

    /// Items that take 2 ms, each of which posts the next one: the queue is never empty.
    @MainActor private final class Flood {
        let most: Int
        var count = 0
        var isOver: Bool { count >= most }
        var ended: (@MainActor () -> Void)?

        init(_ most: Int) { self.most = most }

        func post() {
            MainLoopQueue.shared.post {
                let end = g_get_monotonic_time() + 2_000
                while g_get_monotonic_time() < end {}
                self.count += 1
                if self.count == self.most { self.ended?() }
                if !self.isOver { self.post() }
            }
        }
    }

    @Test func `Frames are drawn however much is delivered`() async throws {
        // GTK's drawing priority: GDK_PRIORITY_REDRAW, a macro that is not imported.
        #expect(MainLoopQueue.priority > Int32(G_PRIORITY_HIGH_IDLE) + 20)
        #expect(MainLoopQueue.priority < Int32(G_PRIORITY_DEFAULT_IDLE))
        let view = UnsafeMutableRawPointer(ViewBench.makeImage())
        let window = try await TestWindow(view)
        let clock = FrameClock(widget: view)
        var frames = 0
        let tick = clock.add { _ in frames += 1 }
        // Of half a second, in which there is time for thirty frames.
        let flood = Flood(250)
        var seen = 0
        flood.ended = { seen = frames }
        for _ in 0..<4 { flood.post() }
        #expect(await MainLoopTurns.wait { flood.isOver })
        clock.remove(tick)
        #expect(seen >= 10, "\(seen) frames in the time of 250 items")
        window.close()
    }

    /// The name of the main loop's current source.
    private static var source: String? {
        g_main_current_source().flatMap { g_source_get_name($0) }.map { String(cString: $0) }
    }

    @Test
    func `Images, failures and progress are delivered by the main loop, and memory hits within the call`() async throws
    {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let (a, b) = (ViewBench.url("a.bmp"), ViewBench.url("b.bmp"))
        var sources: [String?] = []
        func load(_ url: URL) {
            view.setImage(
                with: url,
                context: bench.context,
                progress: { _ in sources.append(Self.source) },
                completed: { _ in sources.append(Self.source) }
            )
        }
        load(a)
        try #require(await bench.loader.request(of: a))
        bench.loader.report(1, of: 2, a)
        #expect(await MainLoopTurns.wait { sources.count == 1 })
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { sources.count == 2 })
        load(b)
        try #require(await bench.loader.request(of: b))
        // On this thread it would be reported at once.
        let loader = bench.loader
        startThread { loader.end(b, with: .failure(WebImageError(.invalidDownloadStatusCode, "no"))) }
        #expect(await MainLoopTurns.wait { sources.count == 3 })
        #expect(sources == ["WebImage: deliveries", "WebImage: deliveries", "WebImage: deliveries"])
        load(a)
        #expect(sources.count == 4 && sources.last != "WebImage: deliveries")
        window.close()
    }
}
