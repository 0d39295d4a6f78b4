import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct SharedWorkTests {
    @Test func `Two loads of one URL are one download and one decode`() async throws {
        let harness = ManagerHarness()
        let first = harness.start().outcome
        let second = harness.start().outcome
        let loads = await harness.loader.waitForLoads(1)
        loads[0].succeed()
        #expect(try await first.image() === (try await second.image()))
        #expect(harness.loader.loads.count == 1)
        #expect(harness.coder.decodes.count == 1)
    }

    @Test func `A load cancelled while the shared image is delivered stores nothing`() async {
        let harness = ManagerHarness()
        let (cache, key) = (harness.cache, harness.url.absoluteString)
        let second = Lock<WebImageLoadOperation?>(nil)
        let first = Outcome()
        harness.manager.loadImage(with: harness.url, context: harness.context()) { result in
            second.withLock { $0 }?.cancel()
            cache.removeImage(forKey: key, from: .all, completion: nil)
            first.record(result)
        }
        // Stores to another level, so that the two share the decode but not the end.
        let (operation, outcome) = harness.start(context: harness.context { $0.storeCacheType = .memory })
        second.withLock { $0 = operation }
        await harness.loader.waitForLoads(1)[0].succeed()
        _ = await first.value()
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(await outcome.error()?.code == .cancelled)
        #expect(cache.memoryKeys.isEmpty)
    }

    @Test func `Two sizes of one URL are one download and two decodes`() async throws {
        let harness = ManagerHarness()
        let small = harness.start(context: harness.thumbnail(1)).outcome
        let big = harness.start(context: harness.thumbnail(2)).outcome
        await harness.loader.waitForLoads(1)[0].succeed()
        #expect(try await small.image().pixelWidth == 1)
        #expect(try await big.image().pixelWidth == 2)
        #expect(harness.loader.loads.count == 1)
        #expect(harness.coder.decodes.count == 2)
    }

    @Test func `A chain shares the steps of a shorter running chain`() async throws {
        let harness = ManagerHarness()
        let resize = FakeTransformer("resize")
        let blur = FakeTransformer("blur")
        let one = harness.context { $0.imageTransformer = .transformer(resize) }
        let both = harness.context { $0.imageTransformer = .transformer(PipelineTransformer([resize, blur])) }
        let first = harness.start(context: one).outcome
        let second = harness.start(context: both).outcome
        await harness.loader.waitForLoads(1)[0].succeed()
        _ = try await first.image()
        _ = try await second.image()
        #expect(resize.count == 1 && blur.count == 1)
        #expect(harness.coder.decodes.count == 1)
    }

    @Test func `A chain builds on the result of a shorter chain in memory`() async throws {
        let harness = ManagerHarness.answering()
        let resize = FakeTransformer("resize")
        let blur = FakeTransformer("blur")
        _ = try await harness.start(context: harness.context { $0.imageTransformer = .transformer(resize) }).outcome
            .image()
        let both = harness.context { $0.imageTransformer = .transformer(PipelineTransformer([resize, blur])) }
        _ = try await harness.start(context: both).outcome.image()
        #expect(resize.count == 1 && blur.count == 1)
        #expect(harness.coder.decodes.count == 1)
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `Managers that share a pipeline, a cache and a loader share downloads`() async throws {
        let harness = ManagerHarness()
        let other = WebImageManager(cache: harness.cache, loader: harness.loader, pipeline: harness.manager.pipeline)
        let outcome = Outcome()
        other.loadImage(with: harness.url, context: harness.context()) { outcome.record($0) }
        let first = harness.start().outcome
        await harness.loader.waitForLoads(1)[0].succeed()
        #expect(try await first.image() === (try await outcome.image()))
    }

    @Test func `A fromCacheOnly load does not share another load's download`() async throws {
        let harness = ManagerHarness()
        let load = harness.start().outcome
        _ = await harness.loader.waitForLoads(1)
        #expect(await harness.start(options: .fromCacheOnly).outcome.error()?.code == .notCached)
        harness.loader.loads[0].succeed()
        _ = try await load.image()
    }

    @Test func `Downloads with different trust or cookies are not shared`() async throws {
        let harness = ManagerHarness()
        _ = harness.start().outcome
        _ = harness.start(options: .allowInvalidSSLCertificates).outcome
        let loads = await harness.loader.waitForLoads(2)
        #expect(loads.map(\.request.options) == [[], .allowInvalidSSLCertificates])
        for load in loads { load.succeed() }
    }

    @Test func `Each waiting load gets one error`() async {
        let harness = ManagerHarness()
        let outcomes = (0..<5).map { _ in harness.start().outcome }
        let error = WebImageError(.invalidDownloadStatusCode, "404", statusCode: 404)
        await harness.loader.waitForLoads(1)[0].answer(.failure(error))
        for outcome in outcomes {
            #expect(await outcome.error() == error.with(url: harness.url))
            #expect(outcome.count == 1)
        }
    }

    @Test func `Late callers get the progress so far`() async throws {
        let harness = ManagerHarness()
        let readings = Lock<[Int64]>([])
        let first = harness.start().outcome
        let load = await harness.loader.waitForLoads(1)[0]
        load.report(30, of: 100)
        let late = harness.start(progress: { reading in readings.withLock { $0.append(reading.receivedByteCount) } })
            .outcome
        load.report(60, of: 100)
        load.succeed()
        _ = try await first.image()
        _ = try await late.image()
        #expect(readings.withLock { $0 } == [30, 60])
    }

    @Test func `Loads wait at the back-pressure limiter while too many bytes are undecoded`() async throws {
        let harness = ManagerHarness(undecodedByteLimit: 1)
        let first = harness.start().outcome
        let second = harness.start(URL(string: "http://host/second")).outcome
        let loads = await harness.loader.waitForLoads(1)
        #expect(harness.loader.loads.count == 1)
        loads[0].succeed()
        await harness.loader.waitForLoads(2)[1].succeed()
        _ = try await first.image()
        _ = try await second.image()
    }

    @Test func `A failed load lets the next one through the back-pressure limiter`() async throws {
        let harness = ManagerHarness(undecodedByteLimit: 1)
        let first = harness.start().outcome
        let second = harness.start(URL(string: "http://host/second")).outcome
        let third = harness.start(URL(string: "http://host/third"))
        let failure = WebImageError(.timedOut, "too slow")
        await harness.loader.waitForLoads(1)[0].answer(.failure(failure))
        third.operation.cancel()
        #expect(await first.error()?.code == .timedOut)
        await harness.loader.waitForLoads(2)[1].succeed()
        _ = try await second.image()
        #expect(await third.outcome.error()?.code == .cancelled)
        #expect(harness.loader.loads.count == 2)
    }
}
