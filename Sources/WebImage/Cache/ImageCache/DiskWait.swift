import Glibc

/// What a thread waits on that has given work to the backlog and must not return before it is done.
///
/// It wakes at every chance to do the work itself: the threads of the cache may all be waiting like this one.
final class DiskWait: @unchecked Sendable {
    // Sendable because everything that changes is only touched with `mutex` held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isPoked = false
    private var isFinished = false

    init() {
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

    /// Says that the work is done.
    func finish() { signal { isFinished = true } }

    /// Says that the work could perhaps be begun now.
    func poke() { signal { isPoked = true } }

    /// Blocks the thread until one of the two has been said. Whether the work is done.
    func wait() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isFinished, !isPoked { pthread_cond_wait(condition, mutex) }
        isPoked = false
        return isFinished
    }

    private func signal(_ change: () -> Void) {
        pthread_mutex_lock(mutex)
        change()
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
}
