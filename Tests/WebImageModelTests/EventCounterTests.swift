import ModelTestSupport
import Testing

/// Waiting of tests for events that they count.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct EventCounterTests {
    @Test("A wait ends with the last event it waits for")
    func events() async {
        let events = EventCounter()
        let waiting = Task { await events.wait(for: 2) }
        events.signal()
        events.signal()
        await waiting.value
        #expect(events.count == 2)
    }

    @Test("A wait ends as an issue when its task is cancelled", arguments: [false, true])
    func cancelled(whileItWaits: Bool) async {
        let begun = EventCounter()
        let events = EventCounter()
        await withKnownIssue {
            let waiting = Task {
                begun.signal()
                if !whileItWaits { await Self.cancellation() }
                await events.wait(for: 1)
            }
            await begun.wait(for: 1)
            waiting.cancel()
            await waiting.value
        } matching: {
            "\($0.comments)".contains("cancelled while 0 of 1")
        }
        #expect(events.count == 0)
    }

    private static func cancellation() async {
        while !Task.isCancelled { await Task.yield() }
    }
}
