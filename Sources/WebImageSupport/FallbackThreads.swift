import CLinux
import Glibc

/// The source of threads for work queues; tests replace it to simulate failures.
package struct WorkThreads: Sendable {
    package var source: ThreadSource
    package var fallback: FallbackThreads
    /// The timer for retries of starting a thread.
    package var delay: DelaySource

    package init(source: ThreadSource, fallback: FallbackThreads, delay: DelaySource) {
        (self.source, self.fallback, self.delay) = (source, fallback, delay)
    }

    package static let retryNanoseconds: UInt64 = 100_000_000

    /// The threads of this process.
    package static let shared = WorkThreads(source: .system, fallback: FallbackThreads(.system), delay: .system)
}

/// Starts threads.
package struct ThreadSource: Sendable {
    /// Runs `body` on a new thread. Returns false, without calling `body`, if the system cannot create one.
    package var start: @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

    /// Detached threads with stacks of 1 MiB.
    package static let system = ThreadSource { DetachedThread.start($0) }
}

/// The fallback thread for all queues that cannot start a thread, so that their jobs run even if the process may create no more
/// threads.
///
/// It is started before the first thread of any queue, sleeps, and never ends. For queues without a thread it runs one job after
/// the other, and tries to start a thread before each.
package final class FallbackThreads: Sendable {
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

    /// Starts the thread, if it is not running.
    package func prepare() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard isFirst, !source.start({ self.work() }) else { return }
        state.withLock { $0.hasThread = false }
    }

    /// Accepts a queue. Returns false if the fallback thread does not exist either.
    func take(_ queue: WorkQueueCore) -> Bool {
        let isTaken = state.withLock { state -> Bool in
            if state.hasThread { state.add(queue) }
            return state.hasThread
        }
        if isTaken { state.signal() }
        return isTaken
    }

    private func work() {
        webimage_name_thread("webimage-fallback")
        while true {
            let queue = state.wait { $0.stranded.isEmpty ? nil : $0.stranded.removeFirst() }
            if queue.doOneJob() { state.withLock { $0.add(queue) } }
        }
    }
}
