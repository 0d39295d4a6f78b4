import TestSupport

@testable import WebImage

/// Waits for a callback of any kind on the test's thread, which may block.
func wait<Value: Sendable>(_ body: (@escaping @Sendable (Value) -> Void) -> Void) -> Value? {
    let latch = Latch()
    let box = Lock<Value?>(nil)
    body { value in
        box.withLock { $0 = value }
        latch.open()
    }
    return latch.wait(seconds: 20) ? box.withLock { $0 } : nil
}

/// Counts down; true when that makes it zero.
func countDown(_ counter: Lock<Int>) -> Bool {
    counter.withLock { count in
        count -= 1
        return count == 0
    }
}

/// Runs `body` on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        startThread {
            body()
            continuation.resume()
        }
    }
}

extension WorkQueue {
    /// Runs the jobs of a stepped queue on the calling thread, those that come meanwhile included.
    func runAll() { while let job = takeNext() { job() } }
}
