import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The mailbox in a program whose loop has little time, or runs within a completion.
@Suite(.serialized, .needsDisplay) @MainActor struct MailboxPressureTests {
    @Test func `What is posted comes though frames take all the time there is`() async throws {
        let area = UnsafeMutableRawPointer(try #require(gtk_drawing_area_new()))
        let window = try await TestWindow(area)
        let order = Order()
        BusyFrames.begin(area, most: 80)
        BusyFrames.after(3) {
            for number in 0..<10 { MainMailbox.shared.post { order.numbers.append(number) } }
            MainMailbox.shared.post {
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

    @Test func `What takes long is not all that is done then`() async throws {
        let area = UnsafeMutableRawPointer(try #require(gtk_drawing_area_new()))
        let window = try await TestWindow(area)
        let order = Order()
        BusyFrames.begin(area, most: 400)
        BusyFrames.after(3) {
            for number in 0..<20 {
                MainMailbox.shared.post {
                    let end = g_get_monotonic_time() + 3_000
                    while g_get_monotonic_time() < end {}
                    order.numbers.append(number)
                    order.frames.insert(BusyFrames.count)
                }
            }
            MainMailbox.shared.post { BusyFrames.isOver = true }
        }
        #expect(await MainLoopTurns.wait { BusyFrames.isOver && order.numbers.count == 20 })
        // Two of 3 ms fit into a turn's 4 ms, and frames come between the turns.
        #expect(order.frames.count >= 8, "\(order.frames.sorted())")
        #expect(BusyFrames.count < 200)
        window.close()
    }
}

@MainActor private final class Order {
    var numbers: [Int] = []
    var frames: Set<Int> = []
    var frame: Int?
}

/// Frames that take longer than there is between two, each of which asks for the next.
@MainActor private enum BusyFrames {
    static var count = 0
    /// Whether frames are as short again as they are.
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
        // A test that fails has to end, too.
        if count >= most { isOver = true }
    }
}
