import Testing
import WebImageModel

/// Counts events and lets tasks wait for a number of them.
package final class EventCounter: Sendable {
    private struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Bool, Never>
    }
    private struct State {
        var count = 0
        var made = 0
        var waiters: [Int: Waiter] = [:]
    }

    private let state = Lock(State())

    package init() {}

    package var count: Int { state.withLock { $0.count } }

    package func signal() {
        let ready = state.withLock { state -> [Int: Waiter] in
            state.count += 1
            let count = state.count
            let ready = state.waiters.filter { $0.value.count <= count }
            for id in ready.keys { state.waiters[id] = nil }
            return ready
        }
        for waiter in ready.values { waiter.continuation.resume(returning: true) }
    }

    /// Returns when `count` events have occurred. If the task is cancelled before, as by a test's time limit, that is
    /// an issue: a test that waits in vain fails, and does not stop all others.
    package func wait(
        for count: Int,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) async {
        let id = state.withLock { state -> Int in
            state.made += 1
            return state.made
        }
        let haveCome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.count >= count { return true }
                    if Task.isCancelled { return false }
                    state.waiters[id] = Waiter(count: count, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
        }
        guard !haveCome else { return }
        // Not `#_sourceLocation`: callers that do not import Testing would not know it.
        let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        Issue.record("cancelled while \(self.count) of \(count) events had come", sourceLocation: place)
    }
}
