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
        submit(priority: priority, isBrief: false, isPatient: false, body)
    }

    /// Runs `body` on one of the threads, later.
    ///
    /// - Parameters:
    ///   - isBrief: True if `body` usually takes about as long as waking a thread.
    ///   - isPatient: True if the job may wait for the end of a brief one, instead of waking another thread.
    @discardableResult
    package func submit(
        priority: LoadPriority,
        isBrief: Bool,
        isPatient: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) -> WorkItem {
        let job = WorkQueueCore.Job(body: body, isBrief: isBrief, isPatient: isPatient)
        return WorkItem(id: core.enqueue(job, priority: priority), core: core)
    }

    /// Wakes a thread for each waiting job, also for patient ones, as far as threads sleep.
    package func hurry() { core.hurry() }

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
        var isBrief = false
        var isPatient = false
    }

    struct State {
        var jobs = JobHeap<Job>()
        /// The number of waiting jobs that are patient.
        var patientCount = 0
        var width: Int
        var threads = 0
        /// The threads that sleep. The one that fell asleep last is woken first: its memory is most likely still in a processor's cache.
        var sleepers: [ThreadSleep] = []
        /// The number of threads that were woken and have not looked for a job since.
        var woken = 0
        /// The number of jobs that run.
        var running = 0
        /// The number of brief ones among them.
        var runningBriefly = 0
        /// The number of places reserved by ``WorkQueue/withReservedPlaces(upTo:_:)``.
        var reserved = 0
        var stopped = false
        /// Indicates whether a retry of starting a thread is scheduled.
        var isRetried = false

        init(width: Int) { self.width = width }

        var idlePlaceCount: Int { jobs.count > 0 ? 0 : max(width - reserved - max(running, 1), 0) }
        /// True if more jobs wait than threads are about to look for one.
        var needsThread: Bool { jobs.count - patientCount > woken || jobs.count > woken + runningBriefly }

        mutating func popJob() -> Job? {
            let job = jobs.popFirst()
            if job?.isPatient == true { patientCount -= 1 }
            return job
        }

        /// Returns a thread to wake after the lock is released; nil if all are awake.
        mutating func takeSleeper() -> ThreadSleep? {
            guard let sleeper = sleepers.popLast() else { return nil }
            woken += 1
            return sleeper
        }

        /// Returns all threads that sleep, to wake them after the lock is released.
        mutating func takeSleepers() -> [ThreadSleep] {
            defer { sleepers = [] }
            woken += sleepers.count
            return sleepers
        }

        mutating func begin(_ job: Job) {
            running += 1
            if job.isBrief { runningBriefly += 1 }
        }

        mutating func end(isBrief: Bool) {
            running -= 1
            if isBrief { runningBriefly -= 1 }
        }
    }

    private let name: String
    private let isStepped: Bool
    private let threads: WorkThreads
    private let state: Lock<State>

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
        self.state = Lock(state)
    }

    func withState<Result>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

    func enqueue(_ job: Job, priority: LoadPriority) -> UInt64 {
        let (id, thread) = withState { state -> (UInt64, NextThread?) in
            let id = state.jobs.insert(job, priority: priority)
            if job.isPatient { state.patientCount += 1 }
            return (id, state.needsThread ? takeThread(&state) : nil)
        }
        // Outside the lock: the woken thread needs it at once, and would sleep again until it is free.
        wake(thread)
        return id
    }

    func cancel(_ id: UInt64) -> Bool {
        // The closure is released outside the lock: it may own anything.
        let job = withState { state -> Job? in
            let job = state.jobs.remove(id)
            if job?.isPatient == true { state.patientCount -= 1 }
            return job
        }
        return job != nil
    }

    func hurry() {
        let threads = withState { state -> [NextThread] in
            var threads: [NextThread] = []
            while state.jobs.count > state.woken, let thread = takeThread(&state) { threads.append(thread) }
            return threads
        }
        for thread in threads { wake(thread) }
    }

    /// A thread that is about to look for a job.
    private enum NextThread {
        case sleeping(ThreadSleep)
        case new
    }

    /// Returns a thread to wake or to start after the lock is released; nil if all are awake. It is counted already.
    private func takeThread(_ state: inout State) -> NextThread? {
        if let sleeper = state.takeSleeper() { return .sleeping(sleeper) }
        guard !isStepped, state.threads < state.width else { return nil }
        state.threads += 1
        state.woken += 1
        return .new
    }

    private func wake(_ thread: NextThread?) {
        switch thread {
        case nil: break
        case .sleeping(let sleeper)?: sleeper.end()
        case .new?: startThread()
        }
    }

    func setPriority(_ priority: LoadPriority, of id: UInt64) { withState { $0.jobs.setPriority(priority, of: id) } }

    func setWidth(_ width: Int) {
        let (sleepers, missing) = withState { state -> ([ThreadSleep], Int) in
            state.width = max(width, 1)
            guard !isStepped else { return ([], 0) }
            let sleepers = state.takeSleepers()
            let missing = max(0, min(state.width - state.threads, state.jobs.count - state.woken))
            state.threads += missing
            state.woken += missing
            return (sleepers, missing)
        }
        for sleeper in sleepers { sleeper.end() }
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
        let sleepers = withState { state in
            state.reserved -= count
            return state.jobs.count > 0 ? state.takeSleepers() : []
        }
        for sleeper in sleepers { sleeper.end() }
    }

    func stop() {
        let sleepers = withState { state in
            state.stopped = true
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.end() }
    }

    /// Starts a thread that has already been counted.
    private func startThread() {
        threads.fallback.prepare()
        if threads.source.start({ self.work() }) { return }
        let isStranded = withState { state -> Bool in
            state.threads -= 1
            state.woken -= 1
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
                state.woken += 1
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
            state.woken += 1
            return true
        }
        guard isStranded else { return false }
        if threads.source.start({ self.work() }) { return false }
        let job = withState { state -> Job? in
            state.woken -= 1
            let job = state.popJob()
            if let job { state.begin(job) }
            return job
        }
        job?.body()
        let (sleepers, isStrandedStill) = withState { state -> ([ThreadSleep], Bool) in
            if let job { state.end(isBrief: job.isBrief) }
            state.threads -= 1
            return (
                state.jobs.count > 0 ? state.takeSleepers() : [],
                state.threads == 0 && state.jobs.count > 0
            )
        }
        for sleeper in sleepers { sleeper.end() }
        return isStrandedStill
    }

    private func work() {
        webimage_name_thread(String(decoding: name.utf8.prefix(15), as: UTF8.self))
        let sleep = ThreadSleep()
        var former = Former.sleep
        // A job is released before the thread sleeps: it may own images.
        while let step = nextStep(of: sleep, after: former) { former = take(step, sleep) }
    }

    /// The activity of a thread before it looks for a job.
    private enum Former {
        /// It slept, or was started.
        case sleep
        case job(isBrief: Bool)
    }

    private enum Step {
        /// Wake that thread, and run the job.
        case run(Job, NextThread?)
        case sleep
    }

    private func take(_ step: consuming Step, _ sleep: ThreadSleep) -> Former {
        switch step {
        case .run(let job, let thread):
            wake(thread)
            job.body()
            return .job(isBrief: job.isBrief)
        case .sleep:
            sleep.begin()
            return .sleep
        }
    }

    /// Returns what a thread does next; nil if it ends.
    private func nextStep(of sleep: ThreadSleep, after former: Former) -> Step? {
        withState { state -> Step? in
            switch former {
            case .sleep: state.woken -= 1
            case .job(let isBrief): state.end(isBrief: isBrief)
            }
            let hasPlace = state.threads <= state.width && state.running + state.reserved < state.width
            if hasPlace, let job = state.popJob() {
                state.begin(job)
                // A patient job that waited for a brief one does not wait for one that is not.
                return .run(job, state.needsThread ? takeThread(&state) : nil)
            }
            if state.threads > state.width || state.stopped {
                state.threads -= 1
                return nil
            }
            state.sleepers.append(sleep)
            return .sleep
        }
    }
}

/// The sleep of one thread, which another thread ends.
///
/// Uses a semaphore instead of a condition: signalling a condition may block until the threads woken before have run.
final class ThreadSleep: @unchecked Sendable {
    // Sendable because the semaphore is only accessed by its own functions.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Blocks the thread until ``end()`` is called; returns at once if that was before.
    func begin() { while sem_wait(semaphore) != 0 {} }

    func end() { sem_post(semaphore) }
}
