import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// A loader that ignores cancellation.
private final class RudeLoader: ImageLoading {
    private final class Operation: ImageLoaderOperation {
        private let flag = Lock(false)
        var isCancelled: Bool { flag.withLock { $0 } }
        func cancel() { flag.withLock { $0 = true } }
        func setPriority(_ priority: LoadPriority) {}
    }

    struct Load: Sendable {
        let request: ImageLoadRequest
        let progress: @Sendable (LoadProgress) -> Void
        let completion: @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    }

    private let list = Lock<[Load]>([])
    var loads: [Load] { list.withLock { $0 } }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }
    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        list.withLock { $0.append(Load(request: request, progress: progress, completion: completion)) }
        return Operation()
    }
    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { true }
}

extension ComplaintTests {
    @Test func `Complaint 7: a cancelled load never delivers an image afterwards`() async throws {
        // The bytes of an image are its URL.
        let harness = ManagerHarness { .success($0.absoluteString) }
        struct Binding: Sendable {
            let url: URL
            let operation: WebImageLoadOperation
            let outcome: Outcome
            let wasAnsweredAtCancel: Bool?
        }
        // Cells of a list that is scrolled back and forth.
        let slots = await withTaskGroup(of: [Binding].self) { group in
            for slot in 0..<20 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(slot))
                    var bindings: [Binding] = []
                    for _ in 0..<500 {
                        if let last = bindings.popLast() {
                            if random.next() % 8 == 0 { _ = await last.outcome.value() }
                            last.operation.cancel()
                            let answered = last.outcome.count == 1
                            bindings.append(
                                Binding(
                                    url: last.url,
                                    operation: last.operation,
                                    outcome: last.outcome,
                                    wasAnsweredAtCancel: answered
                                )
                            )
                        }
                        let url = testURL("/\(random.next() % 4_000)")
                        let (operation, outcome) = harness.start(url)
                        bindings.append(
                            Binding(url: url, operation: operation, outcome: outcome, wasAnsweredAtCancel: nil)
                        )
                        if random.next() % 4 == 0 { await Task.yield() }
                    }
                    return bindings
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var cancelled = 0
        for bindings in slots {
            for binding in bindings {
                let result = await binding.outcome.value()
                if binding.operation.isCancelled {
                    cancelled += 1
                    #expect(throws: WebImageError.cancelled(binding.url)) { try result.get() }
                    #expect(binding.wasAnsweredAtCancel == true, "called at the cancellation, and not later")
                } else {
                    let data = try result.get().data
                    #expect(data == nil || data == Data(binding.url.absoluteString.utf8))
                }
            }
            #expect(bindings.last?.operation.isCancelled == false)
        }
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(slots.joined().allSatisfy { $0.outcome.count == 1 })
        #expect(cancelled > 100 && cancelled < 9_900, "\(cancelled) of 10 000 were cancelled in time")
    }

    @Test func `Complaint 10: cancel calls back before it returns, once`() async {
        let log = Lock<[String]>([])
        @Sendable func say(_ text: String) { log.withLock { $0.append(text) } }
        let harness = ManagerHarness()
        // As views do on the main queue.
        let queue = SerialQueue()
        let context = harness.context { $0.callbackQueue = queue.callbacks }
        @Sendable func bind(_ name: String) -> WebImageLoadOperation {
            say("placeholder \(name)")
            return harness.manager.loadImage(with: testURL("/\(name)"), context: context) { result in
                if case .failure(let error) = result { say("\(error.code == .cancelled ? "cancelled" : "?") \(name)") }
            }
        }
        await queue.run {
            bind("a").cancel()
            let second = bind("b")
            second.cancel()
            second.cancel()
            _ = bind("c")
            harness.manager.cancelAll()
            _ = bind("d")
        }
        let expected = [
            "placeholder a", "cancelled a", "placeholder b", "cancelled b", "placeholder c", "cancelled c",
            "placeholder d",
        ]
        #expect(log.withLock { $0 } == expected)
        // Later calls of the loader have no effect.
        for load in await harness.loader.waitForLoads(4).dropLast() { load.succeed() }
        await queue.run { harness.manager.cancelAll() }
        #expect(await harness.manager.pipeline.becomesIdle())
        await queue.run {}
        #expect(log.withLock { $0 } == expected + ["cancelled d"])
    }

    @Test func `Complaint 11: nothing is delivered after the cancellation`() async {
        for options in [WebImageOptions(), .refreshCached] {
            let (cache, loader, coder) = (FakeCache(), RudeLoader(), PlainCoder())
            let manager = WebImageManager(cache: cache, loader: loader, pipeline: Pipeline())
            let transformer = FakeTransformer("t")
            let url = testURL("/a")
            let context = WebImageContext.with {
                $0.imageCoder = coder
                $0.callbackQueue = .inline
                $0.imageTransformer = .transformer(transformer)
            }
            if options == .refreshCached {
                cache.edit { $0.disk[url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
            }
            let (outcome, progress) = (Outcome(), Monitor(0))
            let operation = manager.loadImage(
                with: url,
                options: options,
                context: context,
                progress: { _ in progress.withLock { $0 += 1 } },
                completion: { outcome.record($0) }
            )
            #expect(await becomes { loader.loads.count == 1 })
            if options == .refreshCached { _ = await outcome.value() }
            let load = loader.loads[0]
            load.progress(LoadProgress(receivedByteCount: 1, expectedByteCount: 9))
            #expect(await progress.value { $0 > 0 ? $0 : nil } == 1)
            operation.cancel()
            let (count, stores) = (outcome.count, cache.edit { $0.stores.count })
            let (decodes, transforms) = (coder.decodes.count, transformer.count)
            load.progress(LoadProgress(receivedByteCount: 5, expectedByteCount: 9))
            load.completion(.success(LoadedImageData(data: Data("new".utf8))))
            #expect(await manager.pipeline.becomesIdle())
            try? await CodingQueue.shared.run(priority: .low) { () throws(WebImageError) in }
            #expect(outcome.count == count && count == (options == .refreshCached ? 2 : 1))
            #expect(await outcome.values(count).last.map { (try? $0.get()) == nil } == true)
            #expect(progress.withLock { $0 } == 1)
            #expect(coder.decodes.count == decodes && transformer.count == transforms)
            #expect(cache.edit { $0.stores.count } == stores && !manager.isFailed(url))
        }
    }

    @Test func `Complaint 29: cancel and end at the same moment are one end`() async throws {
        let harness = ManagerHarness()
        var cancelled = 0
        for round in 0..<TestEffort.rounds(1_500) {
            let (operation, outcome) = harness.start(testURL("/\(round)"))
            let load = await harness.loader.waitForLoads(round + 1)[round]
            async let ended: Void = onThread {
                load.report(1, of: 2)
                if round % 3 == 0 { load.answer(.failure(WebImageError(.timedOut, ""))) } else { load.succeed() }
            }
            async let raised: Void = onThread { operation.setPriority(.high) }
            // At the moment of the response, of the decode, or of the delivery.
            for _ in 0..<round % 40 { await Task.yield() }
            operation.cancel()
            _ = await (ended, raised)
            let error = await outcome.error()
            #expect(operation.isFinished && operation.isCancelled == (error?.code == .cancelled))
            if operation.isCancelled { cancelled += 1 }
            #expect(operation.isCancelled || error?.code == (round % 3 == 0 ? .timedOut : nil))
            #expect(outcome.count == 1)
        }
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(cancelled > 0 && !harness.manager.isRunning)
    }
}
