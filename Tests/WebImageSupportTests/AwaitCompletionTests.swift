import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct AwaitCompletionTests {
    /// Written by one thread and read by another.
    private final class Box: @unchecked Sendable {
        var number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test(arguments: [true, false])
    func `The value of a completion may be read at once, even if it comes before it is awaited`(isEarly: Bool) async {
        for number in 1...20 {
            // The counters order nothing: only the completion does.
            let (hasBegun, hasEnded, isRead) = (Counter(), Counter(), Counter())
            let box: Box = await awaitCompletion { completion in
                startThread {
                    while hasBegun.value == 0 { sched_yield() }
                    completion(Box(number))
                    hasEnded.add()
                    // The sanitizer forgets what a thread did that has ended.
                    while isRead.value == 0 { sched_yield() }
                }
                hasBegun.add()
                while isEarly, hasEnded.value == 0 { sched_yield() }
            }
            #expect(box.number == number)
            isRead.add()
        }
    }

    @Test func `A completion without a value is awaited`() async {
        let hasEnded = Lock(false)
        await awaitCompletion { completion in
            startThread {
                hasEnded.withLock { $0 = true }
                completion()
            }
        }
        #expect(hasEnded.withLock { $0 })
    }
}
