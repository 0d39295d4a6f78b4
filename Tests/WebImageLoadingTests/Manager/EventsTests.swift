import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct EventsTests {
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

    @Test func `The sequence throws a failure`() async {
        let harness = ManagerHarness.answering("bad")
        await #expect(throws: WebImageError(.badImageData, "", url: harness.url)) {
            for try await _ in harness.manager.events(with: harness.url, context: harness.context()) {}
        }
    }

    @Test func `Ending the iteration cancels the load`() async throws {
        let harness = ManagerHarness()
        let context = harness.context()
        let task = Task {
            for try await _ in harness.manager.events(with: harness.url, context: context) {}
        }
        let load = await harness.loader.waitForLoads(1)[0]
        task.cancel()
        _ = try? await task.value
        // The thread that started the load may learn of the cancellation only now.
        #expect(await load.becomesCancelled())
    }

    @Test func `Events deliver both results of a load that has two, and the latest progress between them`() async throws
    {
        let image = Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8))
        let url = URL(string: "http://host/a")!
        let feed = EventFeed()
        func result(_ key: String) -> WebImageResult {
            WebImageResult(image: image, cacheType: .memory, url: url, cacheKey: key)
        }
        func progress(_ count: Int64) -> WebImageEvent {
            .progress(LoadProgress(receivedByteCount: count, expectedByteCount: nil))
        }
        feed.add(.result(result("first")))
        for count in 0..<10_000 { feed.add(progress(Int64(count))) }
        feed.add(.result(result("second")))
        feed.finish(WebImageError(.timedOut, "after it"))
        feed.finish(nil)
        feed.add(progress(1))
        var events: [String] = []
        while case .success(let event?) = await feed.next() {
            switch event {
            case .result(let result): events.append(result.cacheKey)
            case .progress(let reading): events.append("\(reading.receivedByteCount)")
            }
        }
        #expect(events == ["first", "9999", "second"], "and the error ended the loop")
        guard case .success(nil) = await feed.next() else {
            Issue.record("an error is delivered once")
            return
        }
    }

    @Test func `A waiting iterator gets the event, and the end`() async throws {
        let feed = EventFeed()
        async let first = feed.next()
        async let second = feed.next()
        feed.add(.progress(LoadProgress(receivedByteCount: 1, expectedByteCount: nil)))
        feed.finish(nil)
        var progressCount = 0
        for next in await [first, second] {
            if case .success(.progress?) = next { progressCount += 1 }
        }
        #expect(progressCount == 1)
    }

    @Test func `Releasing the iterator cancels the load`() async throws {
        let harness = ManagerHarness()
        func begin() async throws -> FakeLoader.Load {
            var iterator = harness.manager.events(with: harness.url, context: harness.context()).makeAsyncIterator()
            let loader = harness.loader
            let answering = Task {
                let load = await loader.waitForLoads(1)[0]
                load.report(1, of: 2)
                return load
            }
            _ = try await iterator.next()
            return await answering.value
        }
        #expect(try await begin().isCancelled)
        #expect(await harness.manager.pipeline.becomesIdle())
    }
}
