import TestSupport
import Testing
import WebImage

@testable import WebImageSupport

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

/// Lets others go on while `condition` holds. When the task is cancelled meanwhile, which is what the end of a test's time does, that is
/// an issue.
func wait(
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
