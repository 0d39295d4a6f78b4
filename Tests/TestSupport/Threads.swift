import CTestSupport
import Glibc
import WebImageSupport

/// Runs `body` on a new detached thread, with a stack of this many bytes or of the usual size.
public func startThread(stackByteCount: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    if let stackByteCount { pthread_attr_setstacksize(&attributes, stackByteCount) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    let context = Unmanaged.passRetained(Box(body))
    let code = pthread_create(
        &thread,
        &attributes,
        { pointer in
            guard let pointer else { return nil }
            Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
            return nil
        },
        context.toOpaque()
    )
    if code != 0 { context.release() }
}

/// Runs `body` on a new thread.
public func onThread(_ body: @escaping @Sendable () -> Void) async { await valueOnThread(body) }

/// Runs blocking code on a new thread: the tests' own threads are few, and blocking one keeps other tests from running.
public func valueOnThread<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await awaitCompletion { completion in
        startThread { completion(Result(catching: body)) }
    }
    return try result.get()
}

/// A value behind a lock, and a condition to wait for it to change.
public final class Monitor<Value>: @unchecked Sendable {
    // Sendable because `value` is only used with `mutex` held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// A monitor around a value.
    public init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Changes the value and wakes the waiters.
    @discardableResult
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Blocks the calling thread until `body` returns a value; nil after `seconds`.
    public func wait<Result>(seconds: Double = 30, until body: (inout Value) -> Result?) -> Result? {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += Int(seconds)
        deadline.tv_nsec += Int((seconds - seconds.rounded(.down)) * 1e9)
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&value) }
        }
    }
}

extension Monitor where Value: Sendable {
    /// Suspends until `body` returns a value; nil after `seconds`. For tests that wait for work of threads that other
    /// tests hold while they are suspended: blocking the few threads that tests run on would keep those from running.
    public func value<Result: Sendable>(
        seconds: Double = 30,
        until body: @escaping @Sendable (inout Value) -> Result?
    ) async -> Result? {
        await valueOnThread { self.wait(seconds: seconds, until: body) }
    }
}

/// The value is not printed: code that prints an object that owns a monitor does not hold the lock.
extension Monitor: CustomReflectable {
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A gate that a test opens: waiting threads continue when it is opened, or when it gives a permit.
public final class Gate: Sendable {
    private let state = Monitor<(isOpen: Bool, permits: Int, waiting: Int)>((false, 0, 0))

    /// A closed gate.
    public init() {}

    /// Lets all through from now on.
    public func open() { state.withLock { $0.isOpen = true } }

    /// Lets `count` through.
    public func release(_ count: Int = 1) { state.withLock { $0.permits += count } }

    /// Blocks the calling thread until it may pass; false when that took longer than 30 seconds.
    @discardableResult
    public func wait() -> Bool {
        state.withLock { $0.waiting += 1 }
        let passed = state.wait { state -> Bool? in
            if state.isOpen { return true }
            guard state.permits > 0 else { return nil }
            state.permits -= 1
            return true
        }
        state.withLock { $0.waiting -= 1 }
        return passed ?? false
    }

    /// Suspends until `count` threads wait at the gate; false after 30 seconds.
    @discardableResult
    public func arrivals(_ count: Int = 1) async -> Bool {
        await state.value { $0.waiting >= count ? true : nil } ?? false
    }
}

extension Sequence {
    /// The results of an asynchronous function for each element, one after the other.
    public func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

/// The processor time of a thread.
public enum ThreadTime {
    /// That of the calling thread so far.
    public static var nanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// Moves the calling thread to that processor, if it may run there. It may be moved away again at any time.
public func moveThread(toProcessor number: Int) { ctest_move_thread(Int32(number)) }
