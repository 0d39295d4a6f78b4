import Glibc

/// Checks that the system can create threads before anything needs them: Dispatch waits forever for threads that cannot be created, and
/// signals no longer end the program by then.
enum ThreadCheck {
    /// The minimum for Dispatch and a load.
    private static let count = 3

    /// Returns whether that many threads can exist at once, each with its own heap. Takes less than a millisecond.
    static func passes() -> Bool {
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        gate.initialize(to: pthread_mutex_t())
        pthread_mutex_init(gate, nil)
        defer {
            pthread_mutex_destroy(gate)
            gate.deallocate()
        }
        var threads: [pthread_t] = []
        // All threads stay until the last one is created.
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
        // The C library creates a thread's heap with its first allocation.
        free(malloc(64))
        let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self)
        if let gate {
            pthread_mutex_lock(gate)
            pthread_mutex_unlock(gate)
        }
        return nil
    }
}
