import CLinux
import Glibc

/// Where work queues have threads from; tests let there be none.
package struct WorkThreads: Sendable {
    package var source: ThreadSource
    package var relief: WorkRelief
    /// When a thread is asked for again that was not to be had.
    package var delay: DelaySource

    package init(source: ThreadSource, relief: WorkRelief, delay: DelaySource) {
        (self.source, self.relief, self.delay) = (source, relief, delay)
    }

    package static let retryNanoseconds: UInt64 = 100_000_000

    /// The threads of this process.
    package static let shared = WorkThreads(source: .system, relief: WorkRelief(.system), delay: .system)
}

/// Starts threads.
package struct ThreadSource: Sendable {
    /// Runs `body` on a new thread. False, and `body` is not called, when there is none to be had.
    package var start: @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    /// Threads with stacks of 1 MiB, which nobody waits for.
    package static let system = ThreadSource { DetachedThread.start($0) }
}

/// One thread for all queues that get none of their own, so that their jobs are done also when the process may have no more threads.
///
/// It is started before the first thread of any queue, sleeps, and never ends. Of queues that have no thread it does one job after the
/// other, and asks for a thread again before each.
package final class WorkRelief: Sendable {
    private struct State {
        var hasThread = false
        /// Queues that have jobs and no thread, each once.
        var stranded: [WorkQueueCore] = []

        mutating func add(_ queue: WorkQueueCore) {
            if !stranded.contains(where: { $0 === queue }) { stranded.append(queue) }
        }
    }

    private let source: ThreadSource
    private let state = ConditionLock(State())

    package init(_ source: ThreadSource) { self.source = source }

    /// Starts the thread, if it is not there.
    package func prepare() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard isFirst, !source.start({ self.work() }) else { return }
        state.withLock { $0.hasThread = false }
    }

    /// Takes care of a queue. False when there is no thread here either.
    func take(_ queue: WorkQueueCore) -> Bool {
        let isTaken = state.withLock { state -> Bool in
            if state.hasThread { state.add(queue) }
            return state.hasThread
        }
        if isTaken { state.signal() }
        return isTaken
    }

    private func work() {
        webimage_name_thread("webimage-relief")
        while true {
            let queue = state.wait { $0.stranded.isEmpty ? nil : $0.stranded.removeFirst() }
            if queue.doOneJob() { state.withLock { $0.add(queue) } }
        }
    }
}
