import TestSupport
import Testing
package import WebImageModel

/// Suspends until a callback of any kind; nil after 20 seconds.
package func wait<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value? {
    let answer = Monitor<Value?>(nil)
    body { value in answer.withLock { $0 = value } }
    return await answer.value(seconds: 20) { $0 }
}

extension Latch {
    /// Suspends until it is open; false after `seconds`.
    package func opens(seconds: Double = 20) async -> Bool { await valueOnThread { self.wait(seconds: seconds) } }
}

/// The pauses of a task that waits for what nothing signals: at first it only lets others go first, then it leaves the processor to them for a
/// millisecond at a time.
package struct Polling {
    private var count = 0

    package init() {}

    package mutating func pause(isolation: isolated (any Actor)? = #isolation) async {
        count += 1
        guard count > 100 else { return await Task.yield() }
        await withCheckedContinuation { continuation in
            _ = DelaySource.system.after(1_000_000) { continuation.resume() }
        }
    }
}

/// Suspends while `condition` holds. If the task is cancelled meanwhile, as by a test's time limit, that is an issue.
package func wait(
    while condition: @autoclosure () -> Bool,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    isolation: isolated (any Actor)? = #isolation
) async {
    var polling = Polling()
    while condition() {
        if Task.isCancelled {
            let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
            Issue.record("cancelled while it was still so", sourceLocation: place)
            return
        }
        await polling.pause()
    }
}

/// Counts down; returns true when the count becomes zero.
package func countDown(_ counter: Lock<Int>) -> Bool {
    counter.withLock { count in
        count -= 1
        return count == 0
    }
}

/// Suspends until a condition without a notification holds; false after `seconds`.
package func becomes(
    seconds: Double = 30,
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async -> Bool
) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var polling = Polling()
    while await !condition() {
        if ContinuousClock.now > deadline { return false }
        await polling.pause()
    }
    return true
}

extension WorkQueue {
    /// Runs the jobs of a stepped queue on the calling thread, including those added meanwhile.
    package func runAll() { while let job = takeNext() { job() } }
}
