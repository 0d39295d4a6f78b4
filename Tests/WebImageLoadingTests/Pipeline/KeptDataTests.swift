import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Downloaded bytes that wait for the decoder are shared.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct KeptDataTests {
    private let url = URL(string: "http://host/picture.png")!
    private let cache = FakeCache()
    private let coder = PlainCoder()
    private let decoding = Gate()
    private let queue = WorkQueue(name: "test", width: 1)

    /// A manager whose downloads end at once, and whose decodes begin when the gate opens.
    private func manager(_ loader: FakeLoader) async -> WebImageManager {
        queue.submit { [decoding] in _ = decoding.wait() }
        _ = await decoding.arrivals()
        return WebImageManager(cache: cache, loader: loader, pipeline: Pipeline(decodeQueue: queue))
    }

    private func context(_ side: Int? = nil, _ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
        .with {
            $0.imageCoder = coder
            $0.callbackQueue = .inline
            $0.thumbnailPixelSize = side.map { ImageSize(width: $0, height: $0) }
            change(&$0)
        }
    }

    private func start(
        _ manager: WebImageManager,
        _ options: WebImageOptions = [],
        _ context: WebImageContext,
        observer: (any WebImageLoadObserver)? = nil
    ) -> (operation: WebImageLoadOperation, outcome: Outcome) {
        let outcome = Outcome()
        var context = context
        if let observer { context.observer = observer }
        let operation = manager.loadImage(with: url, options: options, context: context) { outcome.record($0) }
        return (operation, outcome)
    }

    @Test func `A load of another size that starts between download and decode downloads nothing`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let manager = await manager(loader)
        let small = start(manager, [], context(1)).outcome
        let big = start(manager, [], context(2)).outcome
        let whole = start(manager, .fromLoaderOnly, context()).outcome
        #expect(loader.loads.count == 1)
        #expect(manager.statistics.joined == 2)
        decoding.open()
        let images = [try await small.image(), try await big.image(), try await whole.image()]
        #expect(images.map(\.pixelWidth) == [1, 2, 4])
        #expect(loader.loads.count == 1)
        #expect(await manager.pipeline.becomesIdle())
        #expect(manager.pipeline.runningCount == 0)
        // One write of the original, whoever decodes it first.
        #expect(cache.edit { $0.stores.count { $0.key == url.absoluteString && $0.type == .disk } } == 1)
    }

    @Test func `A load of another size downloads nothing while the first has yet to begin the write`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let pipeline = Pipeline(decodeQueue: WorkQueue(name: "test", width: 2))
        let manager = WebImageManager(cache: cache, loader: loader, pipeline: pipeline)
        let storing = Gate()
        let serializer = CacheSerializer { _, data, _ in
            // Only the original has bytes, which are serialized once.
            if data != nil { storing.wait() }
            return data
        }
        func start(_ side: Int) -> Outcome {
            self.start(manager, [], context(side) { $0.cacheSerializer = serializer }).outcome
        }
        let first = start(1)
        #expect(await storing.arrivals())
        for side in 2...3 { #expect(try await start(side).image().pixelWidth == side) }
        storing.open()
        #expect(try await first.image().pixelWidth == 1)
        #expect(loader.loads.count == 1)
        #expect(await pipeline.becomesIdle())
        #expect(cache.diskKeys.contains(url.absoluteString))
    }

    @Test func `A load of bytes gets those that wait for the decoder`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let manager = await manager(loader)
        let load = start(manager, [], context(1)).outcome
        #expect(try await manager.data(with: url) == Data("picture".utf8))
        decoding.open()
        _ = try await load.image()
        #expect(loader.loads.count == 1)
    }

    @Test func `The bytes stay when the load that downloaded them is cancelled, and are stored`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let manager = await manager(loader)
        let first = start(manager, [], context(1))
        let second = start(manager, [], context(2))
        first.operation.cancel()
        let third = start(manager, [], context(3)).outcome
        decoding.open()
        #expect(try await second.outcome.image().pixelWidth == 2)
        #expect(try await third.image().pixelWidth == 3)
        #expect(await first.outcome.error()?.code == .cancelled)
        #expect(loader.loads.count == 1)
        #expect(cache.diskKeys.contains(url.absoluteString))
    }

    @Test func `When all decodes are cancelled, the bytes and their share of the limit are released`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let manager = await manager(loader)
        let first = start(manager, [], context(1))
        #expect(manager.pipeline.gate.reservedByteCount > 0)
        first.operation.cancel()
        #expect(manager.pipeline.gate.reservedByteCount == 0 && manager.pipeline.runningCount == 0)
        decoding.open()
        #expect(await manager.pipeline.becomesIdle())
        #expect(try await start(manager, [], context(1)).outcome.image().pixelWidth == 1)
        #expect(loader.loads.count == 2)
    }

    @Test func `A load started in another's completion is a new download`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let manager = await manager(loader)
        let (first, second) = (Outcome(), Outcome())
        let context = context()
        manager.loadImage(with: url, options: .fromLoaderOnly, context: context) { [url] in
            manager.loadImage(with: url, options: .fromLoaderOnly, context: context) { second.record($0) }
            first.record($0)
        }
        decoding.open()
        _ = try await (first.image(), second.image())
        #expect(loader.loads.count == 2)
    }

    @Test func `A load with another loader, store or refresh gets its own bytes`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        cache.edit {
            $0.memory[url.absoluteString] = try? coder.decode(Data("old".utf8), options: ImageDecodeOptions())
        }
        let manager = await manager(loader)
        let outcomes = [
            start(manager, .fromLoaderOnly, context(1)),
            start(manager, [.fromLoaderOnly, .allowInvalidSSLCertificates], context(2)),
            start(manager, .fromLoaderOnly, context(2) { $0.originalStoreCacheType = ImageCacheType.none }),
            start(manager, .refreshCached, context()),
        ].map(\.outcome)
        #expect(loader.loads.count == 4)
        // Loads with fromCacheOnly find nothing yet.
        #expect(await start(manager, .fromCacheOnly, context(3)).outcome.error()?.code == .notCached)
        decoding.open()
        for outcome in outcomes { _ = try await outcome.image() }
    }

    @Test func `A load that gets them reports that it joined, and the downloaded size`() async throws {
        let loader = FakeLoader { _ in .success("picture") }
        let manager = await manager(loader)
        let recording = LoadRecording()
        let first = start(manager, [], context(1)).outcome
        let second = start(manager, [], context(2), observer: recording).outcome
        decoding.open()
        _ = try await first.image()
        _ = try await second.image()
        #expect(await recording.becomesOver())
        let words = recording.words
        #expect(words.contains("joined data") && words.contains("downloaded 7") && !words.contains("asked"))
    }

    @Test func `Bytes that are not an image fail all loads that share them, and the next load downloads again`()
        async throws
    {
        let loader = FakeLoader { _ in .success("bad") }
        let manager = await manager(loader)
        let outcomes = [start(manager, .retryFailed, context(1)), start(manager, .retryFailed, context(2))].map(
            \.outcome
        )
        decoding.open()
        for outcome in outcomes { #expect(await outcome.error()?.code == .badImageData) }
        #expect(loader.loads.count == 1)
        #expect(await manager.pipeline.becomesIdle())
        #expect(await start(manager, .retryFailed, context(1)).outcome.error()?.code == .badImageData)
        #expect(loader.loads.count == 2)
        #expect(cache.diskKeys.isEmpty)
    }
}
