import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Events of the library's downloader for its loads, in virtual time over a test transport.
@Suite(.tags(.threadSanitizer)) struct DownloadTraceTests {
    private struct Setup {
        let harness: RetryHarness
        let manager: WebImageManager

        init(_ harness: RetryHarness = RetryHarness(), loader: (any ImageLoading)? = nil) {
            self.harness = harness
            manager = WebImageManager(
                cache: FakeCache(),
                loader: loader ?? ImageLoadersManager(loaders: [harness.downloader]),
                pipeline: Pipeline(clock: harness.delays.source)
            )
        }

        func start(_ path: String, _ recording: LoadRecording?, _ outcome: Outcome = Outcome()) -> Outcome {
            var context = WebImageContext()
            context.imageCoder = PlainCoder()
            context.callbackQueue = .inline
            context.observer = recording
            manager.loadImage(with: testURL(path), context: context) { outcome.record($0) }
            return outcome
        }
    }

    private func network(_ recording: LoadRecording) -> [String] {
        recording.words.filter { word in
            ["asked", "sent", "response", "retried", "downloaded", "failed"].contains { word.hasPrefix($0) }
        }
    }

    @Test func `The request, the response and retries are reported in order`() async {
        let setup = Setup()
        let recording = LoadRecording()
        let outcome = setup.start("/a", recording)
        setup.harness.fail(0)
        setup.harness.delays.advance(1)
        let refusal = setup.harness.transport.transfers[1].respond(503)
        setup.harness.transport.transfers[1].end(refusal)
        setup.harness.delays.advance(2)
        setup.harness.transport.transfers[2].complete([1, 2, 3])
        _ = await outcome.value()
        #expect(
            network(recording) == [
                "asked", "sent 1", "retried 2103 1.0", "sent 2", "response 503", "retried 2001 2.0", "sent 3",
                "response 200", "downloaded 3",
            ]
        )
        let times = recording.events.compactMap { event -> UInt64? in
            if case .requestSent = event.kind { event.time / 1_000_000_000 } else { nil }
        }
        #expect(times == [0, 1, 3])
        #expect(setup.manager.statistics.retries == 2)
    }

    @Test func `A download that waits for a slot says so, and is sent when there is one`() async {
        let setup = Setup(RetryHarness(maxConcurrentDownloads: 1))
        let (first, second) = (LoadRecording(), LoadRecording())
        let outcomes = [setup.start("/a", first), setup.start("/b", second)]
        #expect(network(second) == ["asked"])
        #expect(second.events.last?.kind.words == "queued download")
        let waiting = setup.manager.statistics
        #expect(waiting.waitingDownloads == 1 && waiting.runningDownloads == 1)
        setup.harness.transport.transfers[0].complete([1])
        #expect(network(second) == ["asked", "sent 1"])
        setup.harness.transport.transfers[1].complete([2])
        for outcome in outcomes { _ = await outcome.value() }
        #expect(first.isOrderly && second.isOrderly)
        let lines = [first, second].map { $0.events.filter { $0.kind.words == "queued download" }.count }
        #expect(lines == [1, 2], "the first had a place at once")
    }

    @Test func `A load that joins the transfer gets the request and response events`() async {
        let setup = Setup()
        let (first, second, third) = (LoadRecording(), LoadRecording(), LoadRecording())
        let one = setup.start("/a", first)
        setup.harness.transport.transfers[0].respond()
        let two = setup.start("/a", second)
        #expect(network(second) == ["asked", "sent 1", "response 200"])
        setup.harness.fail(0)
        let three = setup.start("/a", third)
        let soFar = ["asked", "sent 1", "response 200", "retried 2103 1.0"]
        #expect(network(third) == soFar, "it waits for the next attempt")
        setup.harness.delays.advance(1)
        setup.harness.transport.transfers[1].complete([1])
        for outcome in [one, two, three] { _ = await outcome.value() }
        for recording in [first, second, third] {
            #expect(network(recording) == soFar + ["sent 2", "response 200", "downloaded 1"])
        }
        #expect(setup.harness.starts == 2)
    }

    @Test func `The last error ends the load after the events that led to it`() async {
        let setup = Setup()
        let recording = LoadRecording()
        let outcome = setup.start("/a", recording)
        for attempt in 0..<4 {
            setup.harness.fail(attempt)
            setup.harness.delays.runAll()
        }
        _ = await outcome.value()
        #expect(network(recording).last == "failed 2103")
        #expect(network(recording).filter { $0.hasPrefix("sent") } == ["sent 1", "sent 2", "sent 3", "sent 4"])
        let statistics = setup.manager.statistics
        #expect(statistics.retries == 3 && statistics.downloads == 1 && statistics.downloadFailures == 1)
    }

    @Test func `Without an observer the downloader makes no events`() async {
        let setup = Setup()
        let outcome = setup.start("/a", nil)
        #expect(!setup.manager.pipeline.isObserved)
        setup.harness.transport.transfers[0].complete([1])
        _ = await outcome.value()
        let late = LoadRecording()
        _ = setup.start("/a", late)
        #expect(late.words == ["started a", "memory hit a", "delivered memory"])
    }

    @Test func `A custom loader that forwards the request loses no events`() async {
        let harness = RetryHarness()
        let wrapper = PassingLoader(harness.downloader)
        let setup = Setup(harness, loader: wrapper)
        let recording = LoadRecording()
        let outcome = setup.start("/a", recording)
        harness.transport.transfers[0].complete([1, 2])
        _ = await outcome.value()
        #expect(network(recording) == ["asked", "sent 1", "response 200", "downloaded 2"])
    }
}

/// Forwards everything to another loader.
private final class PassingLoader: ImageLoading {
    private let loader: any ImageLoading

    init(_ loader: any ImageLoading) { self.loader = loader }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { loader.canLoad(url, options: options) }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        var request = request
        request.additionalHeaders["X-Passed"] = "yes"
        return loader.load(request, progress: progress, completion: completion)
    }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }
}
