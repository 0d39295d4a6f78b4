/// What a thread waits on that has given work to the backlog and must not return before it is done.
///
/// It wakes at every chance to do the work itself: the threads of the cache may all be waiting like this one.
final class DiskWait: Sendable {
    private struct State {
        var isPoked = false
        var isFinished = false
    }

    private let state = ConditionLock(State())

    /// Says that the work is done.
    func finish() {
        state.withLock { $0.isFinished = true }
        state.broadcast()
    }

    /// Says that the work could perhaps be begun now.
    func poke() {
        state.withLock { $0.isPoked = true }
        state.broadcast()
    }

    /// Blocks the thread until one of the two has been said. Whether the work is done.
    func wait() -> Bool {
        state.wait { state in
            guard state.isFinished || state.isPoked else { return nil }
            state.isPoked = false
            return state.isFinished
        }
    }
}
