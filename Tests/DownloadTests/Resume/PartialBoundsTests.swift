import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// The limits on size and age.
@Suite struct PartialBoundsTests {
    private let harness = PartialStoreHarness()
    /// Space for six parts.
    private let limits = PartialDownloads.Limits(byteCount: 6 << 14, age: 3600)
    private let bytes = noise(15_000)

    private func keep(_ numbers: Range<Int>, in store: () -> PartialDownloads) {
        for number in numbers {
            harness.keep(bytes, .plain("/\(number)"), in: store())
            harness.clock.advance(1)
        }
    }

    @Test func `The oldest parts are removed above the limit`() {
        let store = harness.store(limits: limits)
        keep(0..<8) { store }
        #expect((0..<8).filter { harness.claim(.plain("/\($0)"), in: store) != nil } == [2, 3, 4, 5, 6, 7])
    }

    @Test func `Parts of other processes count, too`() {
        keep(0..<8) { harness.store(limits: limits) }
        #expect(harness.sizes.count == 6)
    }

    @Test func `A part that is too big by itself is not kept, and removes no others`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        harness.keep(noise(50_000), .plain("/big"), in: store)
        #expect(harness.sizes == [15_000, 50_000])
        // With its head, the second is too big.
        for size in [100_000, limits.byteCount - 100] { harness.keep(noise(size), .plain("/big"), in: store) }
        #expect(harness.sizes == [15_000, 50_000])
        harness.clock.advance(1)
        harness.keep(noise(limits.byteCount - 4096), .plain("/biggest"), in: store)
        #expect(harness.sizes == [limits.byteCount - 4096], "but this is not")
    }

    @Test func `A limit of zero keeps nothing, and creates no directory`() {
        harness.keep(bytes, in: harness.store(limits: .init(byteCount: 0, age: 3600)))
        #expect(!FileManager.default.fileExists(atPath: harness.path))
    }

    @Test func `With a limit of zero existing parts are not used, and are removed`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        store.limits.byteCount = 0
        #expect(!store.find(.plain, limit: .max) { _ in })
        harness.run()
        #expect(harness.names.isEmpty)
        harness.keep(bytes, in: harness.store(limits: limits))
        let new = harness.store(limits: .init(byteCount: 0, age: 3600))
        #expect(!new.find(.plain, limit: .max) { _ in } && !new.find(.plain, limit: .max) { _ in })
        #expect(harness.queue.waitingCount == 1, "a process that begins with it looks once")
        harness.run()
        #expect(harness.names.isEmpty)
    }

    @Test func `A smaller limit and a shorter time apply at once`() throws {
        let store = harness.store(limits: limits)
        keep(0..<4) { store }
        store.limits.byteCount = 45_000
        harness.run()
        #expect(harness.sizes.count == 2, "no more is removed than necessary")
        #expect((0..<4).filter { harness.claim(.plain("/\($0)"), in: store) != nil } == [2, 3], "the oldest went")
        harness.clock.advance(10)
        store.limits.age = 5
        harness.run()
        #expect(harness.names.isEmpty)
        store.limits = limits
        #expect(harness.queue.waitingCount == 0, "a greater bound needs no look")
    }

    @Test func `Writes after the limit was lowered obey it`() {
        let store = harness.store(limits: limits)
        keep(0..<4) { store }
        store.limits.byteCount = 45_000
        harness.keep(bytes, .plain("/4"), in: store)
        #expect(harness.sizes.count == 2)
        #expect((0..<5).filter { harness.claim(.plain("/\($0)"), in: store) != nil } == [3, 4])
    }

    @Test func `A part that is too old is not used, and is removed`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        harness.clock.advance(3599)
        #expect(harness.claim(in: harness.store(limits: limits)) != nil)
        harness.run()
        harness.clock.advance(2)
        #expect(harness.claim(in: harness.store(limits: limits)) == nil)
        #expect(harness.sizes.isEmpty)
    }

    @Test func `A process checks a part's age, even if it knows the part`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        harness.clock.jump(3601)
        #expect(harness.claim(in: store) == nil)
        #expect(harness.sizes.isEmpty)
    }

    @Test func `A part from the future is from before the clock was set back, and counts as new`() {
        harness.keep(bytes, in: harness.store(limits: limits))
        harness.clock.jump(-315_360_000)
        #expect(harness.claim(in: harness.store(limits: limits)) != nil)
        harness.run()
        harness.clock.advance(3599)
        #expect(harness.claim(in: harness.store(limits: limits)) != nil)
        harness.run()
        harness.clock.advance(2)
        #expect(harness.claim(in: harness.store(limits: limits)) == nil, "its age counts from there")
        #expect(harness.sizes.isEmpty)
    }

    @Test(arguments: [-315_360_000.0, 315_360_000.0])
    func `A clock that jumps by ten years does not remove parts at once`(jump: Double) {
        let store = harness.store(limits: limits)
        for number in 0..<5 { harness.keep(bytes, .plain("/\(number)"), in: store) }
        harness.clock.jump(jump)
        #expect(harness.claim(.plain("/0"), in: store) != nil)
        harness.run()
        harness.clock.jump(-jump)
        #expect(harness.sizes.count == 5)
        for number in 0..<5 { #expect(harness.claim(.plain("/\(number)"), in: store) != nil) }
    }
}
