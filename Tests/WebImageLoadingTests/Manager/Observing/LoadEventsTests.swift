import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct LoadEventsTests {
    private func observed(
        _ harness: ManagerHarness,
        _ recording: LoadRecording,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> WebImageContext {
        harness.context {
            change(&$0)
            $0.observer = recording
        }
    }

    @Test func `A miss has events for every step from start to delivery`() async {
        let harness = ManagerHarness.answering("bytes")
        let recording = LoadRecording()
        _ = await harness.start(context: observed(harness, recording)).outcome.value()
        #expect(
            recording.words == [
                "started picture.png", "memory missed absent", "disk missed picture.png absent", "asked",
                "downloaded 5", "decoded 4x2 5", "stored picture.png disk", "stored picture.png memory",
                "delivered none",
            ]
        )
        #expect(recording.isOrderly && recording.events.allSatisfy { $0.url == harness.url })
    }

    @Test func `Memory and disk hits are reported as such`() async {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        let (first, second) = (LoadRecording(), LoadRecording())
        _ = await harness.start(context: observed(harness, first)).outcome.value()
        _ = await harness.start(context: observed(harness, second)).outcome.value()
        #expect(
            first.words == [
                "started picture.png", "memory missed absent", "disk hit picture.png 3", "decoded 4x2 3",
                "stored picture.png memory", "delivered disk",
            ]
        )
        #expect(second.words == ["started picture.png", "memory hit picture.png", "delivered memory"])
    }

    @Test func `A synchronous disk query has the same events`() async {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        let recording = LoadRecording()
        _ = await harness.start(options: .queryDiskDataSync, context: observed(harness, recording)).outcome.value()
        #expect(
            recording.words == [
                "started picture.png", "memory missed absent", "disk hit picture.png 3", "decoded 4x2 3",
                "stored picture.png memory", "delivered disk",
            ]
        )
    }

    @Test func `A thumbnail has events with its own key and the original's`() async {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        let recording = LoadRecording()
        let context = observed(harness, recording) { $0.thumbnailPixelSize = ImageSize(width: 2, height: 1) }
        let key = harness.manager.cacheKey(for: harness.url, context: context).split(separator: "/").last ?? ""
        _ = await harness.start(context: context).outcome.value()
        #expect(
            recording.words == [
                "started \(key)", "memory missed absent", "disk missed \(key) absent", "disk hit picture.png 3",
                "decoded 2x1 3", "stored \(key) all", "delivered disk",
            ]
        )
    }

    @Test func `Transformers are reported one by one, with their source`() async {
        let harness = ManagerHarness.answering()
        let (a, b) = (FakeTransformer("a"), FakeTransformer("b"))
        let (first, second) = (LoadRecording(), LoadRecording())
        let chain = observed(harness, first) { $0.imageTransformer = .transformer(PipelineTransformer([a])) }
        _ = await harness.start(context: chain).outcome.value()
        let longer = observed(harness, second) { $0.imageTransformer = .transformer(PipelineTransformer([a, b])) }
        _ = await harness.start(context: longer).outcome.value()
        #expect(first.words.contains("transformed a") && !first.words.contains("transformed b"))
        #expect(second.words.contains("transformed b") && !second.words.contains("transformed a"))
        #expect(
            second.words.contains { $0.hasPrefix("memory hit picture-") },
            "the shorter chain's result is in memory"
        )
        #expect(second.isOrderly)
    }

    @Test func `Levels that are not queried are reported with the reason`() async {
        let harness = ManagerHarness.answering()
        let (loader, limited, keyless) = (LoadRecording(), LoadRecording(), LoadRecording())
        _ = await harness.start(options: .fromLoaderOnly, context: observed(harness, loader)).outcome.value()
        #expect(loader.words[1] == "memory missed notAsked" && loader.words[2] == "disk missed picture.png notAsked")

        let none = observed(harness, limited) {
            $0.queryCacheType = ImageCacheType.none
            $0.storeCacheType = ImageCacheType.none
            $0.originalStoreCacheType = ImageCacheType.none
        }
        _ = await harness.start(context: none).outcome.value()
        #expect(limited.words[1] == "memory missed notAsked" && limited.words[2] == "disk missed picture.png notAsked")
        #expect(!limited.words.contains { $0.hasPrefix("stored") })

        let filter = observed(harness, keyless) { $0.cacheKeyFilter = CacheKeyFilter { _ in nil } }
        _ = await harness.start(context: filter).outcome.value()
        #expect(keyless.words[..<3] == ["started -", "memory missed noKey", "disk missed - noKey"])
    }

    @Test func `An image scaled down by another byte limit is reported as the reason for a miss`() async {
        let harness = ManagerHarness.answering()
        var metadata = ImageMetadata()
        metadata.scaleDownLimitBytes = 100
        let image = try? Image(bitmap: .allocate(width: 1, height: 1, pixelFormat: .rgb8), metadata: metadata)
        harness.cache.edit { $0.memory[harness.url.absoluteString] = image }
        let recording = LoadRecording()
        _ = await harness.start(context: observed(harness, recording)).outcome.value()
        #expect(recording.words[1] == "memory missed otherByteLimit")
    }

    @Test func `A cached first frame is reported as the reason why the animation is missing`() async {
        let harness = ManagerHarness.answering()
        var metadata = ImageMetadata()
        metadata.isFirstFrame = true
        let image = try? Image(bitmap: .allocate(width: 1, height: 1, pixelFormat: .rgb8), metadata: metadata)
        harness.cache.edit { $0.memory[harness.url.absoluteString] = image }
        let recording = LoadRecording()
        _ = await harness.start(context: observed(harness, recording)).outcome.value()
        #expect(recording.words[1] == "memory missed firstFrameOnly")
    }

    @Test func `Bytes on disk that are not an image are reported before the download that replaces them`() async {
        let harness = ManagerHarness.answering("good")
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("bad".utf8)) }
        let recording = LoadRecording()
        _ = await harness.start(context: observed(harness, recording)).outcome.value()
        #expect(
            recording.words == [
                "started picture.png", "memory missed absent", "disk hit picture.png 3",
                "disk missed picture.png damaged",
                "asked", "downloaded 4", "decoded 4x2 4", "stored picture.png disk", "stored picture.png memory",
                "delivered none",
            ]
        )
    }

    @Test func `Failures of every kind are one end`() async {
        let harness = ManagerHarness.answering("bad")
        let (bad, blocked, missing, empty) = (LoadRecording(), LoadRecording(), LoadRecording(), LoadRecording())
        _ = await harness.start(context: observed(harness, bad)).outcome.value()
        _ = await harness.start(context: observed(harness, blocked)).outcome.value()
        let other = URL(string: "http://host/other.png")
        _ = await harness.start(other, options: .fromCacheOnly, context: observed(harness, missing)).outcome.value()
        let context = observed(harness, empty)
        harness.manager.loadImage(with: nil, context: context) { _ in }
        #expect(bad.words.suffix(2) == ["downloaded 3", "failed 1001"])
        #expect(blocked.words == ["started -", "failed 1003"])
        #expect(missing.words.suffix(2) == ["disk missed other.png absent", "failed 1105"])
        #expect(empty.words == ["started -", "failed 1000"] && empty.events.allSatisfy { $0.url == nil })
        for recording in [bad, blocked, missing, empty] { #expect(recording.isOrderly) }
    }

    @Test func `A cancellation is the end, and later events are not reported`() async {
        let harness = ManagerHarness()
        let recording = LoadRecording()
        let operation = harness.start(context: observed(harness, recording)).operation
        let load = await harness.loader.waitForLoads(1)[0]
        load.report(10, of: 20)
        operation.cancel()
        load.succeed()
        operation.cancel()
        #expect(recording.words.suffix(3) == ["asked", "progress 10", "cancelled"])
        #expect(recording.isOrderly)
        #expect(!harness.manager.pipeline.isObserved)
    }

    @Test func `A load that joins is told so, then gets past events, then the rest`() async {
        let harness = ManagerHarness()
        let (first, second) = (LoadRecording(), LoadRecording())
        let one = harness.start(context: observed(harness, first))
        let load = await harness.loader.waitForLoads(1)[0]
        load.report(1, of: 7)
        let two = harness.start(context: observed(harness, second))
        load.report(2, of: 7)
        load.succeed()
        _ = await (one.outcome.value(), two.outcome.value())
        #expect(
            second.words == [
                "started picture.png", "memory missed absent", "joined image", "disk missed picture.png absent",
                "asked", "progress 1", "progress 2", "downloaded 7", "decoded 4x2 7", "stored picture.png disk",
                "stored picture.png memory", "delivered none",
            ]
        )
        #expect(!first.words.contains { $0.hasPrefix("joined") })
        #expect(first.words.suffix(7) == second.words.suffix(7))
        #expect(first.isOrderly && second.isOrderly)
    }

    @Test func `Loads of two sizes share the download and report their own decodes`() async {
        let harness = ManagerHarness()
        let (first, second) = (LoadRecording(), LoadRecording())
        let one = harness.start(context: observed(harness, first))
        let load = await harness.loader.waitForLoads(1)[0]
        let small = observed(harness, second) { $0.thumbnailPixelSize = ImageSize(width: 2, height: 1) }
        let two = harness.start(context: small)
        load.succeed()
        _ = await (one.outcome.value(), two.outcome.value())
        #expect(second.words.contains("joined data") && second.words.contains("downloaded 7"))
        #expect(first.words.contains("decoded 4x2 7") && !first.words.contains("decoded 2x1 7"))
        #expect(second.words.contains("decoded 2x1 7") && !second.words.contains("decoded 4x2 7"))
    }

    @Test func `A load that joins an unobserved one gets its state and the rest`() async {
        let harness = ManagerHarness()
        let one = harness.start()
        let load = await harness.loader.waitForLoads(1)[0]
        load.report(3, of: 7)
        let recording = LoadRecording()
        let two = harness.start(context: observed(harness, recording))
        load.succeed()
        _ = await (one.outcome.value(), two.outcome.value())
        #expect(recording.words[2...4] == ["joined image", "progress 3", "downloaded 7"])
        #expect(recording.isOrderly)
    }

    @Test func `The manager's observer gets all loads, a context's only its own, and one that is both gets each once`()
        async
    {
        let harness = ManagerHarness.answering()
        let (all, own) = (LoadRecording(), LoadRecording())
        harness.manager.observer = all
        _ = await harness.start(context: observed(harness, own)).outcome.value()
        _ = await harness.start().outcome.value()
        _ = await harness.start(context: observed(harness, all)).outcome.value()
        #expect(all.ends.count == 3 && all.ends.values.allSatisfy { $0 == 1 } && all.isOrderly)
        #expect(own.ends.count == 1)
        #expect(
            own.events.map(\.kind.words) == all.events.filter { $0.loadID == own.events[0].loadID }.map(\.kind.words)
        )
        harness.manager.observer = nil
        _ = await harness.start().outcome.value()
        #expect(all.ends.count == 3)
    }

    @Test func `The options processor may set a load's observer`() async {
        let harness = ManagerHarness.answering()
        let recording = LoadRecording()
        harness.manager.optionsProcessor = WebImageOptionsProcessor { _, options, context in
            var context = context
            context.observer = recording
            return WebImageOptionsResult(options: options, context: context)
        }
        _ = await harness.start().outcome.value()
        #expect(recording.words.last == "delivered none")
    }

    @Test func `Awaited loads, data loads and prefetches to disk are reported, too`() async throws {
        let harness = ManagerHarness.answering()
        let recording = LoadRecording()
        let context = observed(harness, recording)
        _ = try await harness.manager.image(with: harness.url, context: context)
        _ = try await harness.manager.image(with: harness.url, context: context)
        #expect(recording.words.suffix(2) == ["memory hit picture.png", "delivered memory"])
        _ = try await harness.manager.data(with: harness.url, context: context)
        #expect(recording.words.suffix(3) == ["started picture.png", "disk hit picture.png 7", "delivered disk"])

        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let other = try #require(URL(string: "http://host/other.png"))
        _ = await prefetcher.prefetchAll([other, other], target: .disk, context: context)
        #expect(recording.words.contains("stored other.png disk"))
        #expect(await recording.becomesOver() && recording.ends.count == 5 && recording.isOrderly)
    }

    @Test func `Times are those of the pipeline's clock, since the load's start`() async {
        let clock = ManualClock()
        let loader = FakeLoader()
        let manager = WebImageManager(cache: FakeCache(), loader: loader, pipeline: Pipeline(clock: clock.source))
        let recording = LoadRecording()
        var context = WebImageContext()
        context.imageCoder = PlainCoder()
        context.callbackQueue = .inline
        context.observer = recording
        let outcome = Outcome()
        manager.loadImage(with: URL(string: "http://host/a"), context: context) { outcome.record($0) }
        let load = await loader.waitForLoads(1)[0]
        clock.advance(2)
        load.report(1, of: 2)
        clock.advance(1)
        load.succeed()
        _ = await outcome.value()
        let times = recording.events.map { "\($0.kind.words) \($0.time / 1_000_000_000)" }
        #expect(times.contains("asked 0") && times.contains("progress 1 2") && times.contains("downloaded 7 3"))
        #expect(times.last == "delivered none 3")
    }

    @Test func `An observer may cancel, load and leave from its call`() async {
        final class Meddler: WebImageLoadObserver {
            let harness = ManagerHarness.answering()
            let recording = LoadRecording()
            let state = Lock<(operation: WebImageLoadOperation?, isDone: Bool)>((nil, false))
            let ended = EventCounter()

            func loadDid(_ event: WebImageLoadEvent) {
                recording.loadDid(event)
                if event.kind.isEnd { ended.signal() }
                guard case .downloadStarted = event.kind else { return }
                let isFirst = state.withLock { state in
                    defer { state.isDone = true }
                    return !state.isDone
                }
                guard isFirst else { return }
                harness.manager.observer = nil
                harness.manager.cancelAll()
                _ = harness.start(URL(string: "http://host/second.png"))
            }
        }
        let meddler = Meddler()
        meddler.harness.manager.observer = meddler
        let outcome = meddler.harness.start().outcome
        #expect(await outcome.error()?.code == .cancelled)
        await meddler.ended.wait(for: 1)
        #expect(meddler.recording.words.suffix(2) == ["asked", "cancelled"])
        #expect(meddler.recording.ends.count == 1 && meddler.recording.isOrderly)
    }
}
