import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Previews from a loader to the callers.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct ProgressiveLoadTests {
    private struct Harness {
        /// Time stands still: previews that take none are made each time.
        let fakes = ManagerHarness(clock: ManualClock().source)
        let coder = GrowingCoder()

        func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
            fakes.context {
                $0.imageCoder = coder
                change(&$0)
            }
        }

        /// Starts a load; every result is recorded.
        func start(
            _ options: WebImageOptions = .progressiveLoad,
            _ context: WebImageContext? = nil
        ) -> (operation: WebImageLoadOperation, record: Record) {
            let record = Record()
            let operation = fakes.manager.loadImage(
                with: fakes.url,
                options: options,
                context: context ?? self.context()
            ) { record.add($0) }
            return (operation, record)
        }

        /// Returns whether nobody waits for previews within seconds.
        func becomesUnwatched() async -> Bool {
            await becomes { fakes.manager.pipeline.partialTakerCount == 0 }
        }
    }

    /// A caller's deliveries, in order.
    private final class Record: Sendable {
        private let list = Lock<[Result<WebImageResult, WebImageError>]>([])
        private let counter = EventCounter()

        func add(_ result: Result<WebImageResult, WebImageError>) {
            list.withLock { $0.append(result) }
            counter.signal()
        }

        var results: [WebImageResult] { list.withLock { $0.compactMap { try? $0.get() } } }
        var error: WebImageError? {
            list.withLock { list in
                if case .failure(let error)? = list.last { return error }
                return nil
            }
        }
        func wait(_ count: Int) async { await counter.wait(for: count) }
        var count: Int { counter.count }
    }

    private func leave(_ load: FakeLoader.Load, _ text: String, of expected: Int64 = 100) {
        load.request.partialData?.update(Data(text.utf8), expectedByteCount: expected)
    }

    @Test func `Previews are delivered before the image, in order, and marked as previews`() async throws {
        let harness = Harness()
        let (_, record) = harness.start()
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        load.request.partialData?.begin()
        leave(load, "grow1")
        await record.wait(1)
        leave(load, "grow123")
        await record.wait(2)
        load.succeed("grow12345")
        await record.wait(3)
        let results = record.results
        #expect(results.map(\.image.pixelWidth) == [5, 7, 9])
        #expect(results.map(\.isFinal) == [false, false, true])
        #expect(results.map(\.image.metadata.isIncremental) == [true, true, false])
        #expect(results[0].data == nil && results[0].cacheType == .none && results[2].data == Data("grow12345".utf8))
        #expect(harness.coder.log.wholeDecodes == 0 && harness.coder.log.decoderCount == 1)
    }

    @Test func `Previews are not stored`() async throws {
        let harness = Harness()
        let (_, record) = harness.start([.progressiveLoad, .waitStoreCache])
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        await record.wait(1)
        #expect(harness.fakes.cache.memoryKeys.isEmpty && harness.fakes.cache.diskKeys.isEmpty)
        load.succeed("grow12345")
        await record.wait(2)
        let stored = try #require(harness.fakes.cache.memoryImage(forKey: harness.fakes.url.absoluteString))
        #expect(!stored.metadata.isIncremental && stored.pixelWidth == 9)
    }

    @Test(arguments: [true, false])
    func `Bytes that have become an image are released, and do not block other loads`(hasPreviews: Bool) async {
        let harness = Harness()
        let (_, record) = harness.start()
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        if hasPreviews {
            leave(load, "grow1")
            await record.wait(1)
        }
        load.succeed("grow12345")
        await record.wait(hasPreviews ? 2 : 1)
        #expect(await harness.fakes.manager.pipeline.becomesIdle())
    }

    @Test func `Without the option previews are neither made nor delivered`() async throws {
        let harness = Harness()
        let (_, record) = harness.start([])
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        #expect(load.request.partialData?.isWanted == false)
        leave(load, "grow1")
        load.succeed("grow12345")
        await record.wait(1)
        #expect(record.results.count == 1 && harness.coder.log.updates.isEmpty)
    }

    @Test func `Loads with and without previews share the download`() async throws {
        let harness = Harness()
        let (_, plain) = harness.start([])
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        let (_, progressive) = harness.start()
        #expect(load.request.partialData?.isWanted == true, "a late caller gets previews, too")
        leave(load, "grow1")
        await progressive.wait(1)
        load.succeed("grow12345")
        await plain.wait(1)
        await progressive.wait(2)
        #expect(plain.results.map(\.isFinal) == [true] && progressive.results.map(\.isFinal) == [false, true])
        #expect(harness.fakes.loader.loads.count == 1)
    }

    @Test func `Previews are transformed like the image, and delivered under its key`() async throws {
        let harness = Harness()
        let transformer = FakeTransformer("t")
        let context = harness.context { $0.imageTransformer = .transformer(transformer) }
        let (_, record) = harness.start(.progressiveLoad, context)
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        await record.wait(1)
        load.succeed("grow12345")
        await record.wait(2)
        let results = record.results
        #expect(results.allSatisfy { $0.image.metadata.isTransformed } && transformer.count == 2)
        #expect(results[0].image.metadata.isIncremental && !results[1].image.metadata.isIncremental)
        #expect(results[0].cacheKey == results[1].cacheKey)
    }

    @Test func `A failed load ends with its error, whatever previews were delivered`() async throws {
        let harness = Harness()
        let (_, record) = harness.start()
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        await record.wait(1)
        load.answer(.failure(WebImageError(.networkConnectionLost, "gone")))
        await record.wait(2)
        #expect(record.error?.code == .networkConnectionLost)
        let (_, bad) = harness.start()
        let second = await harness.fakes.loader.waitForLoads(2)[1]
        leave(second, "grow1")
        await bad.wait(1)
        second.succeed("growbad")
        await bad.wait(2)
        #expect(bad.error?.code == .badImageData)
    }

    @Test func `A caller that takes only one result gets the image, or the error`() async throws {
        let harness = Harness()
        let context = harness.context()
        let manager = harness.fakes.manager
        let url = harness.fakes.url
        async let awaited = manager.result(with: url, options: .progressiveLoad, context: context)
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        load.succeed("grow12345")
        #expect(try await awaited.isFinal)
        harness.fakes.cache.edit { ($0.memory, $0.disk) = ([:], [:]) }
        async let failing = manager.result(with: url, options: .progressiveLoad, context: context)
        let second = await harness.fakes.loader.waitForLoads(2)[1]
        leave(second, "grow1")
        second.answer(.failure(WebImageError(.networkConnectionLost, "gone")))
        do {
            _ = try await failing
            Issue.record("a preview is not the image")
        } catch let error as WebImageError {
            #expect(error.code == .networkConnectionLost)
        }
    }

    @Test func `In a sequence previews are results before the last`() async throws {
        let harness = Harness()
        let context = harness.context()
        let events = harness.fakes.manager.events(with: harness.fakes.url, options: .progressiveLoad, context: context)
        let loader = harness.fakes.loader
        let feeding = Task {
            let load = await loader.waitForLoads(1)[0]
            load.request.partialData?.update(Data("grow1".utf8), expectedByteCount: 9)
            return load
        }
        var finals: [Bool] = []
        for try await event in events {
            guard case .result(let result) = event else { continue }
            finals.append(result.isFinal)
            if !result.isFinal { await feeding.value.succeed("grow12345") }
        }
        #expect(finals == [false, true])
    }

    @Test func `After a cancellation nothing is delivered, and nothing is left`() async throws {
        let harness = Harness()
        let (operation, record) = harness.start()
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        leave(load, "grow1")
        await record.wait(1)
        operation.cancel()
        leave(load, "grow123")
        await record.wait(2)
        #expect(record.error?.code == .cancelled)
        #expect(await harness.fakes.manager.pipeline.becomesIdle())
        #expect(await harness.becomesUnwatched() && record.count == 2)
    }

    @Test func `A retry of the download starts again`() async throws {
        let harness = Harness()
        let (_, record) = harness.start()
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        load.request.partialData?.begin()
        leave(load, "grow1234567")
        await record.wait(1)
        load.request.partialData?.begin()
        leave(load, "grow1")
        await record.wait(2)
        load.succeed("grow12")
        await record.wait(3)
        #expect(record.results.map(\.image.pixelWidth) == [11, 5, 6])
    }

    @Test func `An image from a cache has no previews`() async throws {
        let harness = Harness()
        let (_, first) = harness.start([.progressiveLoad, .waitStoreCache])
        await harness.fakes.loader.waitForLoads(1)[0].succeed("grow12345")
        await first.wait(1)
        let (_, memory) = harness.start()
        await memory.wait(1)
        harness.fakes.cache.edit { $0.memory = [:] }
        let (_, disk) = harness.start()
        await disk.wait(1)
        #expect(memory.results.map(\.cacheType) == [.memory] && disk.results.map(\.cacheType) == [.disk])
        #expect(memory.count == 1 && disk.count == 1 && harness.fakes.loader.loads.count == 1)
    }

    @Test func `A refresh has no previews: the cached image stays until there is another`() async throws {
        let harness = Harness()
        harness.fakes.cache.edit {
            $0.disk[harness.fakes.url.absoluteString] = CachedImageData(data: Data("grow1".utf8))
        }
        let (_, record) = harness.start([.progressiveLoad, .refreshCached])
        await record.wait(1)
        let load = await harness.fakes.loader.waitForLoads(1)[0]
        #expect(load.request.partialData?.isWanted == false)
        load.succeed("grow12345")
        await record.wait(2)
        #expect(record.results.map(\.image.pixelWidth) == [5, 9])
    }
}
