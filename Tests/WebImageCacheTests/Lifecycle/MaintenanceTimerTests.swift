import CacheTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct MaintenanceTimerTests {
    private let disk = FakeDisk()
    private let clock = ManualClock()

    /// Suspends until there were this many passes; returns their time limits.
    private func passes(_ count: Int) async -> [Double?]? {
        await disk.content.value { $0.passes.count >= count ? $0.passes : nil }
    }

    @Test func `An idle cache removes expired entries when it is time`() async {
        let cache = disk.cache(coder: nil, clock: clock.source) { $0.expiryInterval = 100 }
        cache.upkeep.timerFired()
        #expect(disk.content.withLock { $0.passes.isEmpty }, "the timer fired too early")
        clock.advance(100)
        cache.upkeep.timerFired()
        #expect(await passes(1) == [0.5])
        cache.upkeep.timerFired()
        clock.advance(99)
        cache.upkeep.timerFired()
        #expect(await passes(1)?.count == 1)
        clock.advance(1)
        cache.upkeep.timerFired()
        #expect(await passes(2)?.count == 2)
    }

    @Test func `An unfinished pass continues a minute later`() async {
        let cache = disk.cache(coder: nil, clock: clock.source) { $0.expiryInterval = 1000 }
        disk.content.withLock { $0.cleanup.isComplete = false }
        clock.advance(1000)
        cache.upkeep.timerFired()
        #expect(await passes(1) != nil)
        // The pass has ended when its queue is empty and the next is due.
        let soon = clock.source.monotonicNanoseconds() + 60_000_000_000
        while cache.state.withLock({ $0.nextExpiry }) != soon {
            _ = await wait { done in cache.calculateSize(callbackQueue: .inline) { _, _ in done(true) } }
        }
        disk.content.withLock { $0.cleanup.isComplete = true }
        clock.advance(59)
        cache.upkeep.timerFired()
        clock.advance(1)
        cache.upkeep.timerFired()
        #expect(await passes(2)?.count == 2)
        clock.advance(999)
        cache.upkeep.timerFired()
        #expect(await passes(2)?.count == 2, "that pass ended: the next one follows after a whole interval")
    }

    @Test func `Only the given source of delays fires the timer`() async {
        let timers = Lock<[(nanoseconds: UInt64, body: @Sendable () -> Void)]>([])
        let delays = DelaySource { nanoseconds, body in
            timers.withLock { $0.append((nanoseconds, body)) }
            return {}
        }
        let cache = disk.cache(coder: nil, clock: clock.source, delays: delays) { $0.expiryInterval = 100 }
        clock.advance(100)
        cache.config.expiryInterval = 50
        #expect(timers.withLock { $0.map(\.nanoseconds) } == [100_000_000_000, 50_000_000_000])
        clock.advance(50)
        timers.withLock { $0.last }?.body()
        #expect(await passes(1) == [0.5])
        #expect(timers.withLock { $0.count } == 3)
    }

    @Test func `The timer repeats by itself`() async {
        let cache = disk.cache(coder: nil) { $0.expiryInterval = 0.02 }
        #expect(await passes(3) != nil)
        cache.config.expiryInterval = 0
        #expect(cache.state.withLock { $0.nextExpiry } == .max)
    }

    @Test func `A shorter interval takes effect at once, and disabled passes can be enabled again`() async {
        let cache = disk.cache(coder: nil) { $0.expiryInterval = 0 }
        cache.config.expiryInterval = 3600
        cache.config.expiryInterval = 0.02
        #expect(await passes(2) != nil)
    }

    @Test func `The timer does not retain the cache, and is released with it`() async {
        weak var gone: CacheMaintenance?
        do {
            let cache = disk.cache(coder: nil) { $0.expiryInterval = 3600 }
            gone = cache.upkeep
            #expect(gone != nil)
        }
        // Jobs of the queue may retain it a little longer.
        #expect(await becomes { gone == nil })
    }
}
