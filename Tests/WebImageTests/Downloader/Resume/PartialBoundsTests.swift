import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImage

/// How much is kept, and for how long.
@Suite struct PartialBoundsTests {
    private let harness = PartialStoreHarness()
    private let limits = PartialDownloads.Limits(byteCount: 100_000, age: 3600)
    /// With its head, a fifth of the bound.
    private let bytes = noise(20_000 - PartialHead.byteCount)

    @Test func `The oldest go when there is too much`() {
        let store = harness.store(limits: limits)
        for number in 0..<8 {
            harness.keep(bytes, .plain("/\(number)"), in: store)
            harness.clock.advance(1)
        }
        #expect(harness.sizes.count == 5)
        let found = (0..<8).filter { harness.claim(.plain("/\($0)"), in: store) != nil }
        #expect(found == [3, 4, 5, 6, 7])
    }

    @Test func `What other processes keep counts, too`() {
        for number in 0..<8 {
            harness.keep(bytes, .plain("/\(number)"), in: harness.store(limits: limits))
            harness.clock.advance(1)
        }
        #expect(harness.sizes.reduce(0, +) == 100_000)
    }

    @Test func `A part that grows makes the oldest go, but none that is being written`() throws {
        let store = harness.store(limits: limits)
        let first = store.writer(for: .sample(.plain("/first")))
        first.save(Data(bytes))
        harness.run()
        harness.clock.advance(1)
        for number in 0..<3 {
            harness.keep(bytes, .plain("/\(number)"), in: store)
            harness.clock.advance(1)
        }
        let growing = store.writer(for: .sample(.plain("/growing")))
        growing.save(Data(noise(50_000)))
        harness.run()
        growing.close()
        first.close()
        harness.run()
        #expect(harness.claim(.plain("/first"), in: store) != nil)
        #expect(harness.claim(.plain("/growing"), in: store)?.bytes.count == 50_000)
        #expect((0..<3).filter { harness.claim(.plain("/\($0)"), in: store) != nil } == [2])
    }

    @Test func `A part that is too big alone is not kept, and makes nothing else go`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        let writer = store.writer(for: .sample(.plain("/big")))
        writer.save(Data(noise(50_000)))
        harness.run()
        #expect(harness.sizes.count == 2)
        writer.close(saving: Data(noise(100_000)))
        harness.run()
        #expect(harness.sizes == [20_000])
        #expect(harness.claim(in: store) != nil)
    }

    @Test func `A bound of nothing keeps nothing, and makes no file to find that out`() {
        let made = Lock(0)
        var calls = FileCalls.system
        calls.open = { directory, path, flags in
            if flags & O_CREAT != 0 { made.withLock { $0 += 1 } }
            return FileCalls.system.open(directory, path, flags)
        }
        harness.keep(bytes, in: harness.store(limits: .init(byteCount: 0, age: 3600), calls: calls))
        #expect(harness.sizes.isEmpty && !FileManager.default.fileExists(atPath: harness.path))
        harness.keep(noise(96_000), in: harness.store(limits: limits, calls: calls))
        #expect(harness.sizes.isEmpty && made.withLock { $0 } == 0, "nor what is too big by its head")
        harness.keep(bytes, in: harness.store(limits: limits, calls: calls))
        #expect(harness.sizes.count == 1 && made.withLock { $0 } == 1)
    }

    @Test func `With a bound of nothing what there is is not used, and goes`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        store.limits.byteCount = 0
        #expect(!store.claim(.plain, limit: .max) { _ in })
        harness.run()
        #expect(harness.sizes.isEmpty)
        harness.keep(bytes, in: harness.store(limits: limits))
        let new = harness.store(limits: .init(byteCount: 0, age: 3600))
        #expect(!new.claim(.plain, limit: .max) { _ in } && !new.claim(.plain, limit: .max) { _ in })
        #expect(harness.queue.waitingCount == 1, "a process that begins with it looks once")
        harness.run()
        #expect(harness.sizes.isEmpty)
    }

    @Test func `A smaller bound and a shorter time hold at once, for all but what is being written`() throws {
        let store = harness.store(limits: limits)
        for number in 0..<4 {
            harness.keep(bytes, .plain("/\(number)"), in: store)
            harness.clock.advance(1)
        }
        let first = harness.claim(.plain("/0"), in: store)
        try #require(first != nil)
        store.limits.byteCount = 45_000
        harness.run()
        #expect(harness.sizes.count == 2)
        first?.writer?.close()
        harness.run()
        #expect((0..<4).filter { harness.claim(.plain("/\($0)"), in: store) != nil } == [0, 3])
        harness.run()
        harness.clock.advance(10)
        store.limits.age = 5
        harness.run()
        #expect(harness.sizes.isEmpty)
        store.limits = limits
        #expect(harness.queue.waitingCount == 0, "a greater bound needs no look")
    }

    @Test func `What is written after a smaller bound keeps to it`() {
        let store = harness.store(limits: limits)
        for number in 0..<4 {
            harness.keep(bytes, .plain("/\(number)"), in: store)
            harness.clock.advance(1)
        }
        store.limits.byteCount = 45_000
        harness.keep(bytes, .plain("/4"), in: store)
        #expect(harness.sizes.count == 2)
        #expect(harness.claim(.plain("/3"), in: store) != nil)
    }

    @Test func `What is too old is not used, and is removed`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        harness.clock.advance(3599)
        #expect(harness.claim(in: harness.store(limits: limits)) != nil)
        harness.run()
        harness.clock.advance(2)
        #expect(harness.claim(in: harness.store(limits: limits)) == nil)
        #expect(harness.sizes.isEmpty)
    }

    @Test func `A process that knows of a part looks at its age all the same`() {
        let store = harness.store(limits: limits)
        harness.keep(bytes, in: store)
        harness.clock.jump(3601)
        #expect(harness.claim(in: store) == nil)
        #expect(harness.sizes.isEmpty)
    }

    @Test func `A part from the future is from before the clock was set back, and counts as one of now`() {
        harness.keep(bytes, in: harness.store(limits: limits))
        harness.clock.jump(-315_360_000)
        #expect(harness.claim(in: harness.store(limits: limits)) != nil)
        harness.run()
        harness.clock.advance(3599)
        #expect(harness.claim(in: harness.store(limits: limits)) != nil)
        harness.run()
        harness.clock.advance(2)
        #expect(harness.claim(in: harness.store(limits: limits)) == nil, "its age goes on from there")
        #expect(harness.sizes.isEmpty)
    }

    @Test(arguments: [-315_360_000.0, 315_360_000.0])
    func `A clock that jumps by ten years costs no parts at once`(jump: Double) {
        let store = harness.store(limits: limits)
        for number in 0..<5 { harness.keep(bytes, .plain("/\(number)"), in: store) }
        harness.clock.jump(jump)
        #expect(harness.claim(.plain("/0"), in: store) != nil)
        harness.run()
        harness.clock.jump(-jump)
        #expect(harness.sizes.count == 5)
        for number in 0..<5 { #expect(harness.claim(.plain("/\(number)"), in: store) != nil) }
    }

    @Test func `Files that are no parts are left alone`() throws {
        harness.keep(bytes, in: harness.store(limits: limits))
        let names = ["README", "part-x", "part-" + String(repeating: "A", count: 32)]
        for name in names { try PartialStoreHarness.write(bytes, to: harness.path + "/" + name) }
        harness.clock.jump(86_400)
        #expect(harness.claim(in: harness.store(limits: limits)) == nil)
        #expect(harness.sizes.isEmpty)
        for name in names { #expect(FileManager.default.fileExists(atPath: harness.path + "/" + name)) }
    }
}
