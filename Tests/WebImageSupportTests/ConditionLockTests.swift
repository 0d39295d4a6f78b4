import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct ConditionLockTests {
    @Test func `A wait ends with the result of a change of the value`() async {
        let lock = ConditionLock(0)
        startThread {
            lock.withLock { $0 = 7 }
            lock.signal()
        }
        #expect(await valueOnThread { lock.wait { $0 > 0 ? $0 : nil } } == 7)
    }

    @Test func `A wait for a condition that already holds does not block`() {
        #expect(ConditionLock(3).wait { $0 } == 3)
    }

    @Test func `A wait with a limit ends with nil when nothing changes`() async {
        for seconds in [0.01, -1] {
            let found = await valueOnThread { ConditionLock(0).wait(seconds: seconds) { $0 > 0 ? $0 : nil } }
            #expect(found == nil)
        }
    }

    @Test func `An invalid limit is a limit all the same`() {
        let lock = ConditionLock(true)
        #expect(lock.wait(seconds: .infinity) { $0 } == true)
        #expect(lock.wait(seconds: -.infinity) { $0 } == true)
    }

    @Test func `A broadcast wakes all waiters`() async {
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
        #expect(await valueOnThread { lock.wait(seconds: 30) { $0.through == count ? true : nil } } == true)
    }
}
