import CLinux
import Glibc

/// A fixed number of dedicated threads that run jobs by priority: for work that blocks or computes, which must never run on Swift's
/// cooperative threads.
///
/// Threads start when they are first needed and sleep while there is nothing to do. Submitting costs a lock, and a wake-up if a
/// thread sleeps. If the system cannot create a thread for a queue, the fallback thread (``FallbackThreads``) runs its jobs.
@usableFromInline
package final class WorkQueue: Sendable {
    /// The order of waiting jobs of one priority.
    @usableFromInline
    package enum Order: Sendable { case fifo, lifo }

    private let core: WorkQueueCore

    /// Creates a queue with at most `width` threads; names of threads start with `name` (the system shows 15 bytes).
    package init(name: String, width: Int, order: Order = .fifo, threads: WorkThreads = .shared) {
        core = WorkQueueCore(name: name, width: width, order: order, threads: threads)
    }

    /// Creates a queue without threads, for tests that control what runs when: jobs wait until ``takeNext()`` returns them.
    package init(stepped name: String) { core = WorkQueueCore(name: name, width: 1, order: .fifo, isStepped: true) }

    /// Takes the next job out, like a thread that is about to run it: a later cancel has no effect.
    package func takeNext() -> (@Sendable () -> Void)? { core.withState { $0.jobs.popFirst() }?.body }

    deinit { core.stop() }

    /// The maximum number of jobs that run at once; may be changed while jobs run.
    package var width: Int {
        get { core.withState { $0.width } }
        set { core.setWidth(newValue) }
    }

    /// The number of jobs that wait for a thread.
    package var waitingCount: Int { core.withState { $0.jobs.count } }

    /// Reserves idle places of the queue while `body` runs, for a library that decodes one image with several threads. Jobs that are
    /// submitted meanwhile wait for a free place, so running jobs and reservations together never exceed ``width``. A caller that is
    /// not a job of the queue counts as one only while no job runs.
    ///
    /// - Parameters:
    ///   - count: The maximum number of places to reserve.
    ///   - body: Receives the number of reserved places; 0 if jobs are waiting or no place is idle.
    package func withReservedPlaces<Value, Failure: Error>(
        upTo count: Int,
        _ body: (_ count: Int) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let count = core.reserve(upTo: count)
        defer { core.release(count) }
        return try body(count)
    }

    /// The number of places that are neither used nor reserved; 0 if jobs wait. A caller that is not a job of the queue counts as one
    /// only while no job runs.
    package var idlePlaceCount: Int { core.withState { $0.idlePlaceCount } }

    /// Runs the parts of a computation on this thread and on idle threads of the queue, and returns when all have run.
    ///
    /// - Parameters:
    ///   - count: The number of parts.
    ///   - body: Is called once for each index below `count`, by several threads at the same time.
    package func perform(parts count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
        let work = Lock<(next: Int, body: (@Sendable (Int) -> Void)?)>((0, body))
        let performParts: @Sendable () -> Void = {
            while true {
                let (index, body) = work.withLock { work in
                    defer { work.next += 1 }
                    return (work.next, work.body)
                }
                guard index < count, let body else { return }
                body(index)
            }
        }
        let helpers = (0..<min(idlePlaceCount, max(count - 1, 0))).map { _ in
            let end = Latch()
            let item = submit(priority: .high) {
                performParts()
                end.open()
            }
            return (item, end)
        }
        performParts()
        // A thread that has not begun by now is not waited for.
        for (item, end) in helpers where !item.takeOut() { end.wait() }
        // Jobs are released after they have ended, and `body` may own images.
        work.withLock { $0.body = nil }
    }

    /// Runs `body` on one of the threads, later.
    @discardableResult
    package func submit(priority: LoadPriority = .normal, _ body: @escaping @Sendable () -> Void) -> WorkItem {
        WorkItem(id: core.enqueue(priority: priority, body: body), core: core)
    }

    /// Runs `body` on one of the threads and returns its result.
    package func run<Value: Sendable, Failure: Error>(
        priority: LoadPriority = .normal,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await awaitCompletion { completion in
            submit(priority: priority) {
                let result: Result<Value, Failure>
                do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
                completion(result)
            }
        }
        return try result.get()
    }
}

/// A job submitted to a ``WorkQueue``.
package struct WorkItem: RunningWork {
    fileprivate let id: UInt64
    fileprivate let core: WorkQueueCore

    /// Removes the job from the queue. Returns true if it had not started; then it never will.
    package func takeOut() -> Bool { core.cancel(id) }

    package func cancel() { _ = takeOut() }

    /// Changes the priority of the job, if it has not started.
    package func setPriority(_ priority: LoadPriority) { core.setPriority(priority, of: id) }
}

/// The state that threads share; it outlives the queue until the last thread has ended.
final class WorkQueueCore: Sendable {
    /// Wraps the closure: as a generic argument it would be wrapped in another closure whenever it is inserted and taken out.
    struct Job {
        let body: @Sendable () -> Void
    }

    struct State {
        var jobs = JobHeap<Job>()
        var width: Int
        var threads = 0
        var idle = 0
        /// The number of jobs that run.
        var running = 0
        /// The number of places reserved by ``WorkQueue/withReservedPlaces(upTo:_:)``.
        var reserved = 0
        var stopped = false
        /// Indicates whether a retry of starting a thread is scheduled.
        var isRetried = false

        var idlePlaceCount: Int { jobs.count > 0 ? 0 : max(width - reserved - max(running, 1), 0) }
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
            // `idle` still includes threads that were woken for earlier jobs, so it is compared with the number of all waiting jobs.
            let needsThread = !isStepped && state.jobs.count > state.idle && state.threads < state.width
            if needsThread { state.threads += 1 }
            return (id, state.idle > 0, needsThread)
        }
        // Outside the lock: the woken thread needs it at once, and would sleep again until it is free.
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

    func reserve(upTo count: Int) -> Int {
        withState { state in
            let reserved = max(min(count, state.idlePlaceCount), 0)
            state.reserved += reserved
            return reserved
        }
    }

    func release(_ count: Int) {
        guard count > 0 else { return }
        withState { state in
            state.reserved -= count
            self.state.broadcast()
        }
    }

    func stop() {
        withState { state in
            state.stopped = true
            self.state.broadcast()
        }
    }

    /// Starts a thread that has already been counted.
    private func startThread() {
        threads.fallback.prepare()
        if threads.source.start({ self.work() }) { return }
        let isStranded = withState { state -> Bool in
            state.threads -= 1
            return state.threads == 0 && state.jobs.count > 0
        }
        // Otherwise the jobs run on the existing threads.
        if isStranded, !threads.fallback.take(self) { retryLater() }
    }

    /// Schedules a retry when even the fallback thread is not available: a thread is requested with the next job, and after a
    /// delay.
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

    /// Runs one job in place of a thread, if the queue has none. Returns whether to call it again.
    func doOneJob() -> Bool {
        let isStranded = withState { state -> Bool in
            guard state.threads == 0, state.jobs.count > 0 else { return false }
            // The caller counts as a thread, so that no more than `width` jobs run at once.
            state.threads += 1
            return true
        }
        guard isStranded else { return false }
        if threads.source.start({ self.work() }) { return false }
        let job = withState { state in
            state.running += 1
            return state.jobs.popFirst()
        }
        job?.body()
        return withState { state in
            state.running -= 1
            state.threads -= 1
            if state.idle > 0, state.jobs.count > 0 { self.state.broadcast() }
            return state.threads == 0 && state.jobs.count > 0
        }
    }

    private func work() {
        webimage_name_thread(String(decoding: name.utf8.prefix(15), as: UTF8.self))
        var hasRun = false
        // The job is released before the thread sleeps: it may own images.
        while let job = nextJob(after: hasRun) {
            job.body()
            hasRun = true
        }
    }

    /// Blocks the thread until there is a job and a place for it; nil if the thread is to end.
    ///
    /// - Parameter hasRun: Indicates whether the thread has run a job since the last call.
    private func nextJob(after hasRun: Bool) -> Job? {
        var isIdle = false
        var hasRun = hasRun
        return state.wait { state -> Job?? in
            if isIdle { state.idle -= 1 }
            isIdle = false
            if hasRun { state.running -= 1 }
            hasRun = false
            let hasPlace = state.threads <= state.width && state.running + state.reserved < state.width
            if hasPlace, let job = state.jobs.popFirst() {
                state.running += 1
                return job
            }
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
