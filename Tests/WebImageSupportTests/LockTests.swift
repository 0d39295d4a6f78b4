import ModelTestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct LockTests {
    private struct Unique: ~Copyable { var number = 1 }

    /// An object as tests print it when an expectation on it fails.
    private final class Owner: Sendable {
        let text = Lock("text")
        let unique = Lock(Unique())
        let condition = ConditionLock(1)
    }

    @Test func `An object that owns locks can be printed, without the guarded values`() {
        let owner = Owner()
        #expect(Mirror(reflecting: owner).children.map(\.label) == ["text", "unique", "condition"])
        let shown = Mirror(reflecting: owner).children.flatMap { Mirror(reflecting: $0.value).children.map(\.label) }
        #expect(shown == [])
        var text = ""
        dump(owner, to: &text)
        #expect(!text.contains("mutex") && !text.contains("\"text\""))
    }

    @Test func `The lock is free again after a body that throws`() {
        struct Failure: Error {}
        let lock = Lock(0)
        #expect(throws: Failure.self) { try lock.withLock { _ in throw Failure() } }
        #expect(lock.withLock { $0 } == 0)
    }

    @Test func `Trying a held lock does not wait`() {
        let lock = Lock(0)
        lock.withLockIfFree { $0 += 1 }
        lock.withLock { _ in lock.withLockIfFree { $0 += 10 } }
        #expect(lock.withLock { $0 } == 1)
    }
}
