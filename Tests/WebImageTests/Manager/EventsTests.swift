import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct EventsTests {
    @Test func `Events end with the result`() async throws {
        let harness = ManagerHarness()
        let context = harness.context()
        var iterator = harness.manager.events(with: harness.url, context: context).makeAsyncIterator()
        async let load = harness.loader.waitForLoads(1)[0]
        let answering = Task { [load = harness.loader] in
            let load = await load.waitForLoads(1)[0]
            load.report(10, of: 100)
            return load
        }
        let first = try await iterator.next()
        guard case .progress(let reading)? = first else {
            Issue.record("expected progress, not \(String(describing: first))")
            return
        }
        #expect(reading == LoadProgress(receivedByteCount: 10, expectedByteCount: 100))
        #expect(reading.fraction == 0.1)
        _ = await load
        await answering.value.succeed()
        var last = first
        while let event = try await iterator.next() { last = event }
        guard case .result(let result)? = last else {
            Issue.record("expected a result")
            return
        }
        #expect(result.url == harness.url)
    }

    @Test func `A failure is thrown by the sequence`() async {
        let harness = ManagerHarness.answering("bad")
        await #expect(throws: WebImageError(.badImageData, "", url: harness.url)) {
            for try await _ in harness.manager.events(with: harness.url, context: harness.context()) {}
        }
    }

    @Test func `Giving up the iteration cancels the load`() async throws {
        let harness = ManagerHarness()
        let context = harness.context()
        let task = Task {
            for try await _ in harness.manager.events(with: harness.url, context: context) {}
        }
        let load = await harness.loader.waitForLoads(1)[0]
        task.cancel()
        _ = try? await task.value
        #expect(load.isCancelled)
    }
}
