import Dispatch
import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct CallbackMailboxTests {
    @Test func `No call is made before its delivery`() {
        let mailbox = CallbackMailbox(.inline)
        let calls = Lock<[Int]>([])
        mailbox.append { calls.withLock { $0.append(1) } }
        #expect(calls.withLock { $0 } == [])
        mailbox.deliver()
        #expect(calls.withLock { $0 } == [1])
        mailbox.deliver()
        #expect(calls.withLock { $0 } == [1])
    }

    @Test func `A call made within a call follows it, not inside it`() {
        let mailbox = CallbackMailbox(.inline)
        let calls = Lock<[String]>([])
        mailbox.append {
            mailbox.append { calls.withLock { $0.append("inner") } }
            mailbox.deliver()
            calls.withLock { $0.append("outer") }
        }
        mailbox.deliver()
        #expect(calls.withLock { $0 } == ["outer", "inner"])
    }

    @Test func `A call after all others is refused when there are none, and made after them`() {
        let mailbox = CallbackMailbox(.inline)
        let calls = Lock<[String]>([])
        #expect(!mailbox.appendIfBusy { calls.withLock { $0.append("never") } })
        mailbox.append {
            #expect(mailbox.appendIfBusy { calls.withLock { $0.append("while it delivers") } })
            calls.withLock { $0.append("first") }
        }
        #expect(mailbox.appendIfBusy { calls.withLock { $0.append("before it delivers") } })
        mailbox.deliver()
        #expect(calls.withLock { $0 } == ["first", "before it delivers", "while it delivers"])
        #expect(!mailbox.appendIfBusy { calls.withLock { $0.append("never") } })
    }

    @Test func `On a concurrent queue calls are made one at a time and in order`() async {
        let mailbox = CallbackMailbox(.global)
        let calls = Lock<(list: [Int], isBusy: Bool, wasBusy: Bool)>(([], false, false))
        let count = 1000
        let done = EventCounter()
        for number in 0..<count {
            mailbox.append {
                calls.withLock { state in
                    if state.isBusy { state.wasBusy = true }
                    state.isBusy = true
                }
                calls.withLock { state in
                    state.list.append(number)
                    state.isBusy = false
                }
                done.signal()
            }
            mailbox.deliver()
        }
        await done.wait(for: count)
        #expect(calls.withLock { $0.list } == Array(0..<count))
        #expect(!calls.withLock { $0.wasBusy })
    }
}
