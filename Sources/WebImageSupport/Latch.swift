/// Lets a thread that may block wait until something has happened once.
package final class Latch: Sendable {
    private let isOpen = ConditionLock(false)

    package init() {}

    /// Says that it has happened. Further calls have no effect.
    package func open() {
        isOpen.withLock { $0 = true }
        isOpen.broadcast()
    }

    /// Blocks the thread until it has happened.
    package func wait() { isOpen.wait { $0 ? () : nil } }

    /// Blocks the thread until it has happened, at most so many seconds. Whether it has.
    package func wait(seconds: Double) -> Bool { isOpen.wait(seconds: seconds) { $0 ? true : nil } ?? false }
}
