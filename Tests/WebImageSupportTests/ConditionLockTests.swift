import TestSupport
import Testing
import WebImageSupport

@Suite struct ConditionLockTests {
    @Test func `A wait ends with what the change makes of the value`() {
        let lock = ConditionLock(0)
        startThread {
            lock.withLock { $0 = 7 }
            lock.signal()
        }
        #expect(lock.wait { $0 > 0 ? $0 : nil } == 7)
    }

    @Test func `A wait for what is so already does not block`() {
        #expect(ConditionLock(3).wait { $0 } == 3)
    }

    @Test func `A wait with a limit ends with nothing when nothing changes`() {
        #expect(ConditionLock(0).wait(seconds: 0.01) { $0 > 0 ? $0 : nil } == nil)
        #expect(ConditionLock(0).wait(seconds: -1) { $0 > 0 ? $0 : nil } == nil)
    }

    @Test func `A limit of nonsense is a limit all the same`() {
        let lock = ConditionLock(true)
        #expect(lock.wait(seconds: .infinity) { $0 } == true)
        #expect(lock.wait(seconds: -.infinity) { $0 } == true)
    }

    @Test func `A broadcast wakes everybody`() {
        let lock = ConditionLock((isOpen: false, through: 0))
        let count = 8
        for _ in 0..<count {
            startThread {
                lock.wait { state -> Void? in
                    guard state.isOpen else { return nil }
                    state.through += 1
                    return ()
                }
                lock.broadcast()
            }
        }
        lock.withLock { $0.isOpen = true }
        lock.broadcast()
        #expect(lock.wait(seconds: 30) { $0.through == count ? true : nil } == true)
    }
}
