import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct ConditionLockTests {
    @Test func `A wait ends with what the change makes of the value`() async {
        let lock = ConditionLock(0)
        startThread {
            lock.withLock { $0 = 7 }
            lock.signal()
        }
        #expect(await valueOnThread { lock.wait { $0 > 0 ? $0 : nil } } == 7)
    }

    @Test func `A wait for what is so already does not block`() {
        #expect(ConditionLock(3).wait { $0 } == 3)
    }

    @Test func `A wait with a limit ends with nothing when nothing changes`() async {
        for seconds in [0.01, -1] {
            let found = await valueOnThread { ConditionLock(0).wait(seconds: seconds) { $0 > 0 ? $0 : nil } }
            #expect(found == nil)
        }
    }

    @Test func `A limit of nonsense is a limit all the same`() {
        let lock = ConditionLock(true)
        #expect(lock.wait(seconds: .infinity) { $0 } == true)
        #expect(lock.wait(seconds: -.infinity) { $0 } == true)
    }

    @Test func `A broadcast wakes everybody`() async {
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
