import Dispatch
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct CallbackQueueTests {
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

    @Test func `A global queue is a callback queue like any other`() async {
        await withCheckedContinuation { continuation in CallbackQueue(.global()).async { continuation.resume() } }
        await withCheckedContinuation { continuation in CallbackQueue.global.async { continuation.resume() } }
        let ran = Lock(false)
        CallbackQueue.inline.async { ran.withLock { $0 = true } }
        #expect(ran.withLock { $0 })
    }

    @Test func `A dispatched callback is called later, also on the queue itself`() async {
        let own = DispatchQueue(label: "own")
        let callbacks = CallbackQueue(own, policy: .dispatch)
        let ranAtOnce = await withCheckedContinuation { continuation in
            own.async {
                let ran = Lock(false)
                callbacks.async { ran.withLock { $0 = true } }
                continuation.resume(returning: ran.withLock { $0 })
            }
        }
        #expect(!ranAtOnce)
        await withCheckedContinuation { continuation in callbacks.async { continuation.resume() } }
    }

    @Test func `An invoked callback runs at once, whatever the queue`() {
        for queue in [DispatchQueue(label: "other"), .main, .global()] {
            let ran = Lock(false)
            CallbackQueue(queue, policy: .invoke).async { ran.withLock { $0 = true } }
            #expect(ran.withLock { $0 })
        }
    }

    private static let isMain = DispatchSpecificKey<Bool>()

    @Test func `Without its own queue a load calls back on the main queue`() async throws {
        DispatchQueue.main.setSpecific(key: Self.isMain, value: true)
        let harness = ManagerHarness.answering()
        let context = harness.context { $0.callbackQueue = nil }
        for _ in 0..<2 {
            let isOnMain = await withCheckedContinuation { continuation in
                harness.manager.loadImage(with: harness.url, context: context) { _ in
                    continuation.resume(returning: DispatchQueue.getSpecific(key: Self.isMain) ?? false)
                }
            }
            #expect(isOnMain, "the download, then the image from memory")
        }
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let isOnMain = await withCheckedContinuation { continuation in
            cache.queryImage(forKey: "k") { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: Self.isMain) ?? false)
            }
        }
        #expect(isOnMain)
    }
}
