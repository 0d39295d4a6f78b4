public import Glibc

/// A mutual-exclusion lock around a value. Copies share the lock.
///
/// It wraps a `pthread_mutex`, which costs about 20 ns without contention and keeps its speed when threads outnumber cores. The
/// closure must be short, must not call user code, and must not take the same lock again.
@usableFromInline
package struct Lock<Value: ~Copyable>: @unchecked Sendable {
    // Sendable because the value is only accessed between lock and unlock of the mutex.
    @usableFromInline let storage: Storage

    /// The mutex and the value in one allocation.
    @usableFromInline
    final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        @inlinable
        deinit {
            withUnsafeMutablePointers { mutex, value in
                pthread_mutex_destroy(mutex)
                _ = value.deinitialize(count: 1)
            }
        }
    }

    @inlinable
    package init(_ value: consuming Value) {
        let storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        storage.withUnsafeMutablePointerToHeader { _ = pthread_mutex_init($0, nil) }
        storage.withUnsafeMutablePointerToElements { $0 }.initialize(to: value)
        self.storage = unsafeDowncast(storage, to: Storage.self)
    }

    /// Runs `body` with exclusive access to the value.
    @inlinable @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { (mutex, value) throws(Failure) in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }

    /// Runs `body` with exclusive access to the value, or does nothing if another thread holds the lock.
    @inlinable @inline(__always)
    package func withLockIfFree(_ body: (inout Value) -> Void) {
        storage.withUnsafeMutablePointers { mutex, value in
            guard pthread_mutex_trylock(mutex) == 0 else { return }
            defer { pthread_mutex_unlock(mutex) }
            body(&value.pointee)
        }
    }
}

/// The value is not reflected, because code that prints an owner of a lock does not hold the lock.
extension Lock: CustomReflectable where Value: ~Copyable {
    @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}
