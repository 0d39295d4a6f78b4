import CWebImageGTK4
import Dispatch
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct MainLoopTests {
    @Test func `The main actor is the main thread, and runs while GLib's loop does`() async throws {
        MainLoopIntegration.install()
        #expect(CallbackQueue.isMainThread)
        await Task.detached {}.value
        #expect(CallbackQueue.isMainThread)
        try await Task.sleep(for: .milliseconds(1))
        #expect(CallbackQueue.isMainThread)
    }

    @Test func `Dispatch's main queue runs, whatever thread dispatches to it`() async {
        let count = Lock(0)
        await withCheckedContinuation { continuation in
            startThread {
                for _ in 0..<100 { DispatchQueue.main.async { count.withLock { $0 += 1 } } }
                DispatchQueue.main.async { continuation.resume() }
            }
        }
        #expect(count.withLock { $0 } == 100)
    }

    @Test func `Items posted from many threads run on the main thread, each thread's in order`() async {
        let order = Lock<[[Int]]>(Array(repeating: [], count: 8))
        for thread in 0..<8 {
            startThread {
                for number in 0..<500 {
                    MainLoopQueue.shared.post {
                        #expect(CallbackQueue.isMainThread)
                        order.withLock { $0[thread].append(number) }
                    }
                }
            }
        }
        #expect(await MainLoopTurns.wait { order.withLock { $0.allSatisfy { $0.count == 500 } } })
        #expect(order.withLock { $0.allSatisfy { $0 == Array(0..<500) } })
    }

    @Test func `Long items let the loop turn in between`() async {
        var turns = 0
        let source = g_idle_add_full(
            // As urgent as deliveries: it has its turn when they leave one.
            MainLoopQueue.priority,
            { data in
                data?.assumingMemoryBound(to: Int.self).pointee += 1
                return 1
            },
            withUnsafeMutablePointer(to: &TurnCounter.count) { UnsafeMutableRawPointer($0) },
            nil
        )
        defer { g_source_remove(source) }
        for _ in 0..<20 {
            MainLoopQueue.shared.post {
                let end = g_get_monotonic_time() + 2_000
                while g_get_monotonic_time() < end {}
                turns = TurnCounter.count
            }
        }
        await withCheckedContinuation { continuation in MainLoopQueue.shared.post { continuation.resume() } }
        // Two or three of 2 ms fit into a turn's 4 ms.
        #expect(turns >= 6, "\(turns)")
    }

    @Test func `An item may post another, which runs after the waiting ones`() async {
        var order: [Int] = []
        MainLoopQueue.shared.post {
            order.append(1)
            MainLoopQueue.shared.post { order.append(3) }
        }
        MainLoopQueue.shared.post { order.append(2) }
        #expect(await MainLoopTurns.wait { order.count == 3 })
        #expect(order == [1, 2, 3])
    }

    @Test func `An item's captures are released when it has run`() async {
        final class Kept: Sendable {}
        weak var kept: Kept?
        do {
            let object = Kept()
            kept = object
            for _ in 0..<3 { MainLoopQueue.shared.post { withExtendedLifetime(object) {} } }
        }
        #expect(await MainLoopTurns.wait { kept == nil })
    }
}

/// Counts turns of the loop; used only on the main thread.
private enum TurnCounter {
    nonisolated(unsafe) static var count = 0
}
