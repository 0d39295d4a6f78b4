import Glibc

/// Lets a thread that may block wait until something has happened once.
final class Latch: @unchecked Sendable {
    // Sendable because `isOpen` is only touched with `mutex` held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isOpen = false

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Says that it has happened. Further calls have no effect.
    func open() {
        pthread_mutex_lock(mutex)
        isOpen = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the thread until it has happened.
    func wait() {
        pthread_mutex_lock(mutex)
        while !isOpen { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the thread until it has happened, at most so many seconds. Whether it has.
    func wait(seconds: Double) -> Bool {
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
        while !isOpen { if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { break } }
        return isOpen
    }
}
