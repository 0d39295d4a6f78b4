/// A one-time event that blocking threads can wait for.
package final class Latch: Sendable {
    private let isOpen = ConditionLock(false)

    package init() {}

    /// Signals the event. Idempotent.
    package func open() {
        isOpen.withLock { $0 = true }
        isOpen.broadcast()
    }

    /// Blocks the thread until the event is signalled.
    @available(*, noasync)
    package func wait() { isOpen.wait { $0 ? () : nil } }

    /// Blocks the thread until the event is signalled, at most that many seconds. Returns whether it was.
    @available(*, noasync)
    package func wait(seconds: Double) -> Bool { isOpen.wait(seconds: seconds) { $0 ? true : nil } ?? false }
}
