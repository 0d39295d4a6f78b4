import Dispatch
import TestSupport
import Testing

@testable import WebImage

@Suite struct CallbackQueueTests {
    @Test func `On its own queue a callback runs inline, elsewhere later`() async {
        let own = DispatchQueue(label: "own")
        let callbacks = CallbackQueue(own)
        let other = CallbackQueue(DispatchQueue(label: "other"))
        let inline = await withCheckedContinuation { continuation in
            own.async {
                let ran = Lock((false, false))
                callbacks.async { ran.withLock { $0.0 = true } }
                let gate = Gate()
                other.async {
                    gate.wait()
                    ran.withLock { $0.1 = true }
                }
                continuation.resume(returning: ran.withLock { [$0.0, $0.1] })
                gate.open()
            }
        }
        #expect(inline == [true, false])
    }

    @Test @MainActor func `On the main thread callbacks of the main queue run inline under both policies`() {
        for queue in [CallbackQueue.main, CallbackQueue(.main), CallbackQueue(.main)] {
            let ran = Lock(false)
            queue.async { ran.withLock { $0 = true } }
            #expect(ran.withLock { $0 } == CallbackQueue.isMainThread)
        }
    }

    @Test func `A global queue is a callback queue like any other`() async {
        await withCheckedContinuation { continuation in CallbackQueue(.global()).async { continuation.resume() } }
        await withCheckedContinuation { continuation in CallbackQueue.global.async { continuation.resume() } }
        let ran = Lock(false)
        CallbackQueue.inline.async { ran.withLock { $0 = true } }
        #expect(ran.withLock { $0 })
    }
}
