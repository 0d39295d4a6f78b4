public import Glibc

/// A lock around a value, and a condition on which a thread that may block waits for the value to change.
///
/// Never wait on Swift's cooperative threads: use continuations there.
@usableFromInline
package final class ConditionLock<Value: ~Copyable>: @unchecked Sendable {
    // Sendable because `value` is only accessed with `mutex` held.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
    @usableFromInline var value: Value

    @inlinable
    package init(_ value: consuming Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Timeouts must not depend on changes of the system's clock.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Runs `body` with exclusive access to the value. Wakes no thread.
    @inlinable @inline(__always)
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Wakes one waiting thread.
    package func signal() { pthread_cond_signal(condition) }

    /// Wakes all waiting threads.
    package func broadcast() { pthread_cond_broadcast(condition) }

    /// Blocks the thread until `body` returns a value. It is called with exclusive access, at once and whenever the thread is
    /// woken.
    @inlinable
    package func wait<Result>(until body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits in the same way, at most that many seconds (0...1e9); then returns nil unless a last call of `body` returns a value.
    @inlinable
    package func wait<Result>(seconds: Double, until body: (inout Value) -> Result?) -> Result? {
        let limit = min(max(seconds, 0), 1e9)
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += Int(limit)
        end.tv_nsec += Int((limit - limit.rounded(.down)) * 1e9)
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_nsec -= 1_000_000_000
            end.tv_sec += 1
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return body(&value) }
        }
    }
}

/// The value is not reflected, as with ``Lock``.
extension ConditionLock: CustomReflectable where Value: ~Copyable {
    @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}
