/// Lets a thread that may block wait until something has happened once.
final class Latch: Sendable {
    private let isOpen = ConditionLock(false)

    /// Says that it has happened. Further calls have no effect.
    func open() {
        isOpen.withLock { $0 = true }
        isOpen.broadcast()
    }

    /// Blocks the thread until it has happened.
    func wait() { isOpen.wait { $0 ? () : nil } }

    /// Blocks the thread until it has happened, at most so many seconds. Whether it has.
    func wait(seconds: Double) -> Bool { isOpen.wait(seconds: seconds) { $0 ? true : nil } ?? false }
}
