import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite struct DelaySourceTests {
    private final class Owned: Sendable {}

    @Test func `A delay ends on time and calls once`() async {
        let clock = ClockSource.system
        let start = clock.monotonicNanoseconds()
        let calls = EventCounter()
        let cancel = DelaySource.system.after(20_000_000) { calls.signal() }
        await calls.wait(for: 1)
        #expect(clock.monotonicNanoseconds() - start >= 20_000_000)
        cancel()
        #expect(calls.count == 1)
    }

    @Test func `A cancelled delay is released at once and does not call`() async {
        let calls = EventCounter()
        weak let owned: Owned?
        do {
            let object = Owned()
            owned = object
            let cancel = DelaySource.system.after(10_000_000) { [object] in
                withExtendedLifetime(object) { calls.signal() }
            }
            cancel()
            cancel()
        }
        #expect(owned == nil)
        let later = EventCounter()
        _ = DelaySource.system.after(30_000_000) { later.signal() }
        await later.wait(for: 1)
        #expect(calls.count == 0)
    }

    @Test func `An infinite delay, or NaN, does not trap`() async {
        DelaySource.system.after(.max) {}()
        let calls = EventCounter()
        _ = DelaySource.system.after(0) { calls.signal() }
        await calls.wait(for: 1)
    }
}
