import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Calls a closure when it is released.
private final class Farewell: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}

@Suite(.tags(.threadSanitizer)) struct ContextTests {
    @Test(.timeLimit(.minutes(10)))
    func `A progress closure's captures may use the manager in deinit`() async throws {
        let harness = ManagerHarness()
        let gone = EventCounter()
        let pipeline = harness.manager.pipeline
        func start() -> Outcome {
            let farewell = Farewell {
                _ = pipeline.runningCount
                gone.signal()
            }
            return harness.start(progress: { _ in _ = farewell }).outcome
        }
        let outcome = start()
        await harness.loader.waitForLoads(1)[0].succeed()
        _ = try await outcome.image()
        await gone.wait(for: 1)
    }

    @Test func `The result's own cache is read when originals have another`() async throws {
        let harness = ManagerHarness.answering()
        let originals = FakeCache()
        let context = harness.context { $0.originalImageCache = originals }
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        #expect(try await harness.start(context: context).outcome.value().get().cacheType == .disk)
        #expect(harness.loader.loads.isEmpty)
        let other = URL(string: "http://host/other.png")!
        _ = try await harness.start(other, options: .waitStoreCache, context: context).outcome.image()
        #expect(originals.diskKeys == [other.absoluteString])
        #expect(harness.cache.diskKeys.contains(other.absoluteString))
    }

    @Test func `A cached entry that is not an image does not block its URL`() async throws {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("bad".utf8)) }
        #expect(await harness.start(options: .fromCacheOnly).outcome.error()?.code == .badImageData)
        _ = try await harness.start().outcome.image()
    }

    @Test func `An empty chain has the original's key`() {
        let manager = ManagerHarness.answering().manager
        let url = URL(string: "http://host/a.png")!
        var context = WebImageContext()
        context.imageTransformer = .transformer(PipelineTransformer([PipelineTransformer([])]))
        #expect(manager.cacheKey(for: url, context: context) == "http://host/a.png")
        context.imageTransformer = .transformer(PipelineTransformer([FakeTransformer("a"), FakeTransformer("b")]))
        context.thumbnailPixelSize = ImageSize(width: 3, height: 4)
        #expect(
            manager.cacheKey(for: url, context: context)
                == "http://host/a-Thumbnail(%7B3.000000,4.000000%7D,1)-a-b.png"
        )
        context.cacheKeyFilter = CacheKeyFilter { _ in nil }
        #expect(manager.cacheKey(for: url, context: context).isEmpty)
    }

    @Test func `A string is loaded, and an error names a string that is not a URL`() async throws {
        let harness = ManagerHarness.answering()
        let good = Outcome()
        harness.manager.loadImage(with: "http://host/ä b.png", context: harness.context()) { good.record($0) }
        #expect(try await good.value().get().url.absoluteString == "http://host/%C3%A4%20b.png")
        let empty = Outcome()
        harness.manager.loadImage(with: "", context: harness.context()) { empty.record($0) }
        #expect(await empty.error()?.code == .invalidURL)
    }

    @Test func `The scale of the context is the image's, and one below 1 is ignored`() async throws {
        let harness = ManagerHarness.answering()
        let twice = harness.context { $0.imageScaleFactor = 2 }
        #expect(try await harness.start(context: twice).outcome.image().scale == 2)
        let url = URL(string: "http://host/a@3x.png")!
        let ignored = harness.context { $0.imageScaleFactor = 0.5 }
        #expect(try await harness.start(url, context: ignored).outcome.image().scale == 3)
    }

    @Test func `Loads with other scales share the pixels, each at its scale`() async throws {
        let harness = ManagerHarness.answering()
        let twice = harness.context { $0.imageScaleFactor = 2 }
        let first = try await harness.start(context: twice).outcome.image()
        let second = try await harness.start().outcome.value().get()
        #expect(second.cacheType == .memory)
        #expect(second.image.scale == 1 && second.image.bitmap.storage === first.bitmap.storage)
        #expect(try await harness.start(context: twice).outcome.image() === first)
    }

    @Test func `A transformed image of another scale is cached under another key`() async throws {
        let harness = ManagerHarness.answering()
        func context(_ scale: Double?) -> WebImageContext {
            harness.context {
                $0.imageScaleFactor = scale
                let size = ImageSize(width: 10, height: 10)
                $0.imageTransformer = .transformer(ResizingTransformer(size: size, scaleMode: .fill))
            }
        }
        #expect(try await harness.start(context: context(nil)).outcome.image().pixelWidth == 10)
        #expect(try await harness.start(context: context(2)).outcome.image().pixelWidth == 20)
        #expect(try await harness.start(context: context(1)).outcome.value().get().cacheType == .memory)
        let key = harness.manager.cacheKey(for: harness.url, context: context(2))
        #expect(key.contains("-Scale(2.000000)"))
    }

    @Test func `Query types select the cache levels`() async throws {
        let harness = ManagerHarness.answering()
        _ = try await harness.start(options: .waitStoreCache).outcome.image()
        for (type, found) in [
            (ImageCacheType.none, ImageCacheType.none), (.disk, .disk), (.memory, .memory), (.all, .memory),
        ] {
            let context = harness.context { $0.queryCacheType = type }
            #expect(try await harness.start(context: context).outcome.value().get().cacheType == found)
        }
    }

    @Test func `All loads leave the list of running ones when another thread cancels all`() async {
        let harness = ManagerHarness()
        let manager = harness.manager
        let stop = Lock(false)
        let cancelling = EventCounter()
        startThread {
            while !stop.withLock({ $0 }) { manager.cancelAll() }
            cancelling.signal()
        }
        for number in 0..<5000 { _ = harness.start(URL(string: "http://host/\(number)")) }
        stop.withLock { $0 = true }
        await cancelling.wait(for: 1)
        manager.cancelAll()
        #expect(!manager.isRunning)
    }

    @Test func `The bytes of a URL are read from disk or loaded, and are not stored`() async throws {
        let harness = ManagerHarness.answering("new")
        let context = harness.context()
        #expect(try await harness.manager.data(with: harness.url, context: context) == Data("new".utf8))
        #expect(harness.cache.diskKeys.isEmpty)
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        #expect(try await harness.manager.data(with: harness.url, context: context) == Data("old".utf8))
    }
}
