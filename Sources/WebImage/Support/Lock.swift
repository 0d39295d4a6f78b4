import Glibc

/// A mutual-exclusion lock around a value, the only kind of lock in this library and its command.
///
/// It wraps a `pthread_mutex`, which costs about 20 ns when nobody waits and keeps its speed when threads outnumber
/// cores. The closure must be short, must not call out to code of the user, and must not take the same lock again.
package final class Lock<Value: ~Copyable>: @unchecked Sendable {
    // Sendable because `value` is only touched between lock and unlock of `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: consuming Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Runs `body` with exclusive access to the value, or does nothing when someone else has the lock.
    @inline(__always)
    func withLockIfFree(_ body: (inout Value) -> Void) {
        guard pthread_mutex_trylock(mutex) == 0 else { return }
        defer { pthread_mutex_unlock(mutex) }
        body(&value)
    }
}

/// Nothing is shown of the value: whoever prints an object that owns a lock does not hold it.
extension Lock: CustomReflectable where Value: ~Copyable {
    package var customMirror: Mirror { Mirror(self, children: []) }
}
