import Glibc

/// Looks whether the system gives the program threads, before anything needs them: Dispatch waits for ever for threads that are not to be
/// had, and by then signals no longer end the program.
enum ThreadCheck {
    /// Fewer are not enough for Dispatch and a load.
    private static let count = 3

    /// True if so many threads can be there at once, each with memory of its own. Takes less than a millisecond.
    static func passes() -> Bool {
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        gate.initialize(to: pthread_mutex_t())
        pthread_mutex_init(gate, nil)
        defer {
            pthread_mutex_destroy(gate)
            gate.deallocate()
        }
        var threads: [pthread_t] = []
        // All stay until the last is there.
        pthread_mutex_lock(gate)
        for _ in 0..<count {
            var thread = pthread_t()
            guard pthread_create(&thread, nil, body, gate) == 0 else { break }
            threads.append(thread)
        }
        pthread_mutex_unlock(gate)
        for thread in threads { pthread_join(thread, nil) }
        return threads.count == count
    }

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { gate in
        // The C library gives a thread a heap of its own with its first block.
        free(malloc(64))
        let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self)
        if let gate {
            pthread_mutex_lock(gate)
            pthread_mutex_unlock(gate)
        }
        return nil
    }
}
