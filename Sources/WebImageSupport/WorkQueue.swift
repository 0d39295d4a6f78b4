import CLinux
import Glibc

/// A fixed number of threads of its own that run jobs by priority: for work that blocks or computes, which must never
/// run on Swift's cooperative threads.
///
/// Threads start when they are first needed and sleep when there is nothing to do. Submitting costs a lock, and a wake-up
/// when a thread sleeps. Where the system has no thread for a queue, ``WorkRelief`` does its jobs.
package final class WorkQueue: Sendable {
    /// Which of the waiting jobs of one priority runs first.
    package enum Order: Sendable { case fifo, lifo }

    private let core: WorkQueueCore

    /// A queue with at most `width` threads; names of threads start with `name` (15 bytes are shown by the system).
    package init(name: String, width: Int, order: Order = .fifo, threads: WorkThreads = .shared) {
        core = WorkQueueCore(name: name, width: width, order: order, threads: threads)
    }

    /// A queue without threads, for tests that decide what runs when: jobs wait until ``takeNext()`` hands them out.
    package init(stepped name: String) { core = WorkQueueCore(name: name, width: 1, order: .fifo, isStepped: true) }

    /// Takes the job out whose turn it is, as a thread does that is about to run it: a cancel comes too late then.
    package func takeNext() -> (@Sendable () -> Void)? { core.withState { $0.jobs.popFirst() }?.body }

    deinit { core.stop() }

    /// At most this many jobs run at once; may be changed while jobs run.
    package var width: Int {
        get { core.withState { $0.width } }
        set { core.setWidth(newValue) }
    }

    /// Jobs that wait for a thread.
    package var waitingCount: Int { core.withState { $0.jobs.count } }

    /// Runs `body` on one of the threads, later.
    @discardableResult
    package func submit(priority: LoadPriority = .normal, _ body: @escaping @Sendable () -> Void) -> WorkItem {
        WorkItem(id: core.enqueue(priority: priority, body: body), core: core)
    }

    /// Runs `body` on one of the threads and returns what it returns.
    package func run<Value: Sendable, Failure: Error>(
        priority: LoadPriority = .normal,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit(priority: priority) {
                let result: Result<Value, Failure>
                do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}

/// A job given to a ``WorkQueue``.
package struct WorkItem: RunningWork {
    fileprivate let id: UInt64
    fileprivate let core: WorkQueueCore

    /// Takes the job out of the queue. True if it had not started; then it never will.
    package func takeOut() -> Bool { core.cancel(id) }

    package func cancel() { _ = takeOut() }

    /// Moves the job to another priority, if it has not started.
    package func setPriority(_ priority: LoadPriority) { core.setPriority(priority, of: id) }
}

/// The state that threads share; it outlives the queue until the last thread has left.
final class WorkQueueCore: Sendable {
    /// A closure in a structure: as a generic argument it would be wrapped in another one, whenever it is put in and taken out.
    struct Job {
        let body: @Sendable () -> Void
    }

    struct State {
        var jobs = JobHeap<Job>()
        var width: Int
        var threads = 0
        var idle = 0
        var stopped = false
        /// Whether a thread will be asked for again in a while.
        var isRetried = false
    }

    private let name: String
    private let isStepped: Bool
    private let threads: WorkThreads
    private let state: ConditionLock<State>

    init(
        name: String,
        width: Int,
        order: WorkQueue.Order,
        isStepped: Bool = false,
        threads: WorkThreads = .shared
    ) {
        self.name = name
        self.isStepped = isStepped
        self.threads = threads
        var state = State(width: max(width, 1))
        state.jobs.order = order
        self.state = ConditionLock(state)
    }

    func withState<Result>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

    func enqueue(priority: LoadPriority, body: @escaping @Sendable () -> Void) -> UInt64 {
        let (id, wakes, needsThread) = withState { state -> (UInt64, Bool, Bool) in
            let id = state.jobs.insert(Job(body: body), priority: priority)
            // Sleeping threads count only once: one that has been woken for an earlier job is still among them.
            let needsThread = !isStepped && state.jobs.count > state.idle && state.threads < state.width
            if needsThread { state.threads += 1 }
            return (id, state.idle > 0, needsThread)
        }
        // Outside the lock: who is woken wants it at once, and would sleep again until it is free.
        if wakes { state.signal() }
        if needsThread { startThread() }
        return id
    }

    func cancel(_ id: UInt64) -> Bool {
        // The closure is released outside the lock: it may own anything.
        let job = withState { $0.jobs.remove(id) }
        return job != nil
    }

    func setPriority(_ priority: LoadPriority, of id: UInt64) { withState { $0.jobs.setPriority(priority, of: id) } }

    func setWidth(_ width: Int) {
        let missing = withState { state -> Int in
            state.width = max(width, 1)
            guard !isStepped else { return 0 }
            self.state.broadcast()
            let missing = max(0, min(state.width - state.threads, state.jobs.count - state.idle))
            state.threads += missing
            return missing
        }
        for _ in 0..<missing { startThread() }
    }

    func stop() {
        withState { state in
            state.stopped = true
            self.state.broadcast()
        }
    }

    /// Starts a thread that has been counted.
    private func startThread() {
        threads.relief.prepare()
        if threads.source.start({ self.work() }) { return }
        let isStranded = withState { state -> Bool in
            state.threads -= 1
            return state.threads == 0 && state.jobs.count > 0
        }
        // Otherwise the jobs run on the threads that there are.
        if isStranded, !threads.relief.take(self) { retryLater() }
    }

    /// Not even a thread for all queues is to be had: it is asked for with the next job, and after a while.
    private func retryLater() {
        let isFirst = withState { state -> Bool in
            defer { state.isRetried = true }
            return !state.isRetried
        }
        guard isFirst else { return }
        _ = threads.delay.after(WorkThreads.retryNanoseconds) { [self] in
            let isStranded = withState { state -> Bool in
                state.isRetried = false
                guard state.threads == 0, state.jobs.count > 0 else { return false }
                state.threads += 1
                return true
            }
            if isStranded { startThread() }
        }
    }

    /// Does one job in place of a thread, if the queue has none. Whether that is to be done again.
    func doOneJob() -> Bool {
        let isStranded = withState { state -> Bool in
            guard state.threads == 0, state.jobs.count > 0 else { return false }
            // Who does a job counts as a thread, so that no more than `width` run at once.
            state.threads += 1
            return true
        }
        guard isStranded else { return false }
        if threads.source.start({ self.work() }) { return false }
        withState { $0.jobs.popFirst() }?.body()
        return withState { state in
            state.threads -= 1
            return state.threads == 0 && state.jobs.count > 0
        }
    }

    private func work() {
        webimage_name_thread(String(decoding: name.utf8.prefix(15), as: UTF8.self))
        while let job = nextJob() { job.body() }
    }

    /// Blocks the thread until there is one; nil when the thread is to end.
    private func nextJob() -> Job? {
        var isIdle = false
        return state.wait { state -> Job?? in
            if isIdle { state.idle -= 1 }
            isIdle = false
            if state.threads <= state.width, let job = state.jobs.popFirst() { return job }
            if state.threads > state.width || state.stopped {
                state.threads -= 1
                return .some(nil)
            }
            state.idle += 1
            isIdle = true
            return nil
        }
    }
}
