import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The main loop's queue in a program whose loop has little time, or runs within a completion.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct MainLoopPressureTests {
    @Test func `Posted items are delivered though frames take all the time`() async throws {
        let area = UnsafeMutableRawPointer(try #require(gtk_drawing_area_new()))
        let window = try await TestWindow(area)
        let order = Order()
        BusyFrames.begin(area, most: 80)
        BusyFrames.after(3) {
            for number in 0..<10 { MainLoopQueue.shared.post { order.numbers.append(number) } }
            MainLoopQueue.shared.post {
                order.frame = BusyFrames.count
                BusyFrames.isOver = true
            }
        }
        #expect(await MainLoopTurns.wait { order.frame != nil })
        #expect(order.numbers == Array(0..<10))
        let frame = try #require(order.frame)
        #expect(frame < 40, "\(frame)")
        window.close()
    }

    @Test func `Long items are not all run in one turn`() async throws {
        let area = UnsafeMutableRawPointer(try #require(gtk_drawing_area_new()))
        let window = try await TestWindow(area)
        let order = Order()
        BusyFrames.begin(area, most: 400)
        BusyFrames.after(3) {
            for number in 0..<20 {
                MainLoopQueue.shared.post {
                    let end = g_get_monotonic_time() + 3_000
                    while g_get_monotonic_time() < end {}
                    order.numbers.append(number)
                    order.frames.insert(BusyFrames.count)
                }
            }
            MainLoopQueue.shared.post { BusyFrames.isOver = true }
        }
        #expect(await MainLoopTurns.wait { BusyFrames.isOver && order.numbers.count == 20 })
        // Two of 3 ms fit into a turn's 4 ms, and frames are drawn between the turns.
        #expect(order.frames.count >= 5, "\(order.frames.sorted())")
        #expect(BusyFrames.count < 200)
        window.close()
    }

    @Test func `A loop that runs within an item delivers posted items, in order, each once`() async {
        let order = Order()
        MainLoopQueue.shared.post {
            order.numbers.append(1)
            MainLoopQueue.shared.post { order.numbers.append(3) }
            Loop.run { quit in
                startThread {
                    MainLoopQueue.shared.post {
                        order.numbers.append(4)
                        quit()
                    }
                }
            }
            order.numbers.append(5)
            MainLoopQueue.shared.post { order.numbers.append(6) }
        }
        MainLoopQueue.shared.post { order.numbers.append(2) }
        #expect(await MainLoopTurns.wait { order.numbers.count == 6 })
        #expect(order.numbers == [1, 2, 3, 4, 5, 6])
    }

    @Test func `A dialog run by a completion shows its images`() async throws {
        let bench = try ViewBench()
        let (a, b) = (ViewBench.url("a.bmp"), ViewBench.url("b.bmp"))
        let (picture, other) = (ViewBench.makeImage(), ViewBench.makeImage())
        let box = UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)))
        for view in [picture, other] {
            gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), UnsafeMutableRawPointer(view).widget)
        }
        let window = try await TestWindow(box)
        var isShown = false
        var isOver = false
        picture.setImage(with: a, context: bench.context) { _ in
            Loop.run { quit in
                other.setImage(with: b, context: bench.context) { _ in
                    isShown = ViewState.of(UnsafeMutableRawPointer(other)).paintable.content != nil
                    quit()
                }
                startThread {
                    while !bench.loader.waiting.contains(b) {}
                    bench.loader.end(b, with: .success(ViewBench.red))
                }
            }
            #expect(isShown, "while the dialog is there")
            isOver = true
        }
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { isOver })
        window.close()
    }
}

@MainActor private final class Order {
    var numbers: [Int] = []
    var frames: Set<Int> = []
    var frame: Int?
}

/// A main loop that runs within a call, like a dialog's.
@MainActor private enum Loop {
    /// - Parameter begin: Called before it runs, with a closure that ends it.
    static func run(_ begin: (_ quit: @escaping @MainActor @Sendable () -> Void) -> Void) {
        nonisolated(unsafe) let loop = g_main_loop_new(nil, 0)
        begin { g_main_loop_quit(loop) }
        // It has to end, even if nothing is delivered.
        let guardian = MainTimer(after: 5) { g_main_loop_quit(loop) }
        g_main_loop_run(loop)
        guardian.cancel()
        g_main_loop_unref(loop)
    }
}

/// Frames that take longer than their interval, each of which requests the next.
@MainActor private enum BusyFrames {
    static var count = 0
    /// A Boolean value that indicates whether frames are short again.
    static var isOver = false
    private static var most = 0
    private static var later: (count: Int, body: () -> Void)?

    static func begin(_ area: UnsafeMutableRawPointer, most: Int) {
        (count, isOver, self.most, later) = (0, false, most, nil)
        gtk_drawing_area_set_draw_func(
            area.assumingMemoryBound(to: GtkDrawingArea.self),
            { _, _, _, _, _ in MainActor.assumeIsolated { BusyFrames.draw() } },
            nil,
            nil
        )
        gtk_widget_add_tick_callback(
            area.widget,
            { widget, _, _ in
                gtk_widget_queue_draw(widget)
                return MainActor.assumeIsolated { BusyFrames.isOver } ? 0 : 1
            },
            nil,
            nil
        )
    }

    /// Does something in a later frame.
    static func after(_ count: Int, _ body: @escaping () -> Void) { later = (count, body) }

    private static func draw() {
        guard !isOver else { return }
        let end = g_get_monotonic_time() + 25_000
        while g_get_monotonic_time() < end {}
        count += 1
        if let later, later.count == count { later.body() }
        // A failing test has to end, too.
        if count >= most { isOver = true }
    }
}
