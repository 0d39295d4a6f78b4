import TestSupport
import Testing
package import WebImageModel

/// Waits for a callback of any kind on the test's thread, which may block.
package func wait<Value: Sendable>(_ body: (@escaping @Sendable (Value) -> Void) -> Void) -> Value? {
    let latch = Latch()
    let box = Lock<Value?>(nil)
    body { value in
        box.withLock { $0 = value }
        latch.open()
    }
    return latch.wait(seconds: 20) ? box.withLock { $0 } : nil
}

/// Lets others go on while `condition` holds. When the task is cancelled meanwhile, which is what the end of a test's time does, that is
/// an issue.
package func wait(
    while condition: @autoclosure () -> Bool,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    isolation: isolated (any Actor)? = #isolation
) async {
    while condition() {
        if Task.isCancelled {
            let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
            Issue.record("cancelled while it was still so", sourceLocation: place)
            return
        }
        await Task.yield()
    }
}

/// Counts down; true when that makes it zero.
package func countDown(_ counter: Lock<Int>) -> Bool {
    counter.withLock { count in
        count -= 1
        return count == 0
    }
}

/// Runs `body` on a thread of its own.
package func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        startThread {
            body()
            continuation.resume()
        }
    }
}

/// Runs what blocks on a thread of its own.
package func valueOnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in startThread { continuation.resume(returning: body()) } }
}

/// Suspends until something is so that nobody tells of; false after 30 seconds.
package func becomes(_ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(30)
    while !condition() {
        if ContinuousClock.now > deadline { return false }
        await Task.yield()
    }
    return true
}

extension WorkQueue {
    /// Runs the jobs of a stepped queue on the calling thread, those that come meanwhile included.
    package func runAll() { while let job = takeNext() { job() } }
}
