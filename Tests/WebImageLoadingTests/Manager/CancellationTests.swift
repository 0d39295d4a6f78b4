import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct CancellationTests {
    /// Cancels every load in the middle of its work.
    private struct CancellingTransformer: ImageTransformer {
        let manager: WebImageManager
        let transformerKey = "cancelling"

        func transform(_ image: Image) throws(WebImageError) -> Image {
            manager.cancelAll()
            manager.imageCache.clear(.all, completion: nil)
            return image
        }
    }

    @Test func `An image made synchronously by a load is not stored when it is cancelled meanwhile`() async {
        let harness = ManagerHarness()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("picture".utf8)) }
        let transformer = CancellingTransformer(manager: harness.manager)
        let context = harness.context { $0.imageTransformer = .transformer(transformer) }
        let outcome = harness.start(options: .queryDiskDataSync, context: context).outcome
        #expect(await outcome.error()?.code == .cancelled && outcome.count == 1)
        #expect(harness.cache.memoryKeys.isEmpty && harness.cache.diskKeys.isEmpty)
    }

    @Test func `A load cancelled while its work starts reports no more progress`() {
        let parts = Lock<(manager: WebImageManager, loader: FakeLoader)?>(nil)
        let loader = FakeLoader { _ in
            let parts = parts.withLock { $0 }
            parts?.manager.cancelAll()
            parts?.loader.loads.last?.report(1, of: 2)
            return .success("picture")
        }
        let manager = WebImageManager(cache: FakeCache(), loader: loader, pipeline: Pipeline())
        parts.withLock { $0 = (manager, loader) }
        let log = Lock<[String]>([])
        var context = WebImageContext()
        context.callbackQueue = .inline
        manager.loadImage(
            with: URL(string: "http://host/a"),
            context: context,
            progress: { _ in log.withLock { $0.append("progress") } },
            completion: { _ in log.withLock { $0.append("end") } }
        )
        #expect(log.withLock { $0 } == ["end"])
        #expect(manager.pipeline.runningCount == 0 && manager.pipeline.waitingCount == 0)
    }

    @Test func `Cancelling all includes loads of bytes and prefetches to disk`() async {
        let harness = ManagerHarness()
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let (url, other, context) = (harness.url, URL(string: "http://host/other")!, harness.context())
        async let progress = prefetcher.prefetchAll([other], target: .disk, context: context)
        let data = Task { try await harness.manager.data(with: url, context: context) }
        _ = await harness.loader.waitForLoads(2)
        #expect(harness.manager.isRunning && harness.manager.statistics.runningLoads == 2)
        harness.manager.cancelAll()
        await #expect(throws: WebImageError.cancelled(url)) { try await data.value }
        #expect(await progress.skippedCount == 1)
        #expect(!harness.manager.isRunning)
        // The threads that started the loads may learn of the cancellation only now.
        for load in harness.loader.loads { #expect(await load.becomesCancelled()) }
        #expect(harness.manager.statistics.cancelled == 2)
    }

    @Test func `All loads are cancelled, the latest first`() {
        let harness = ManagerHarness()
        let order = Lock<[Int]>([])
        for number in 0..<40 {
            let url = URL(string: "http://host/\(number)")
            harness.manager.loadImage(with: url, context: harness.context()) { _ in order.withLock { $0.append(number) }
            }
        }
        harness.manager.cancelAll()
        #expect(order.withLock { $0 } == Array((0..<40).reversed()))
    }

    @Test func `Cancelling completes once, at once, and stops the download`() async throws {
        let harness = ManagerHarness()
        let (operation, outcome) = harness.start()
        let load = await harness.loader.waitForLoads(1)[0]
        operation.cancel()
        #expect(outcome.count == 1)
        #expect(await outcome.error()?.code == .cancelled)
        #expect(operation.isCancelled && load.isCancelled)
        operation.cancel()
        #expect(outcome.count == 1)
        #expect(harness.manager.pipeline.runningCount == 0)
        #expect(!harness.manager.isRunning)
    }

    @Test func `Cancelling one of two loads leaves the other running`() async throws {
        let harness = ManagerHarness()
        let first = harness.start()
        let second = harness.start()
        let load = await harness.loader.waitForLoads(1)[0]
        first.operation.cancel()
        #expect(!load.isCancelled)
        load.succeed()
        _ = try await second.outcome.image()
        #expect(await first.outcome.error()?.code == .cancelled)
    }

    @Test func `A cancelled URL is not remembered as failed, and can be loaded again`() async throws {
        let harness = ManagerHarness()
        harness.start().operation.cancel()
        let again = harness.start().outcome
        let loads = await harness.loader.waitForLoads(2)
        loads[1].succeed()
        _ = try await again.image()
    }

    @Test func `Cancelling after the end does nothing`() async throws {
        let harness = ManagerHarness.answering()
        let (operation, outcome) = harness.start()
        _ = try await outcome.image()
        operation.cancel()
        #expect(!operation.isCancelled)
        #expect(outcome.count == 1)
    }

    @Test func `Cancelling all ends every load`() async {
        let harness = ManagerHarness()
        let outcomes = (0..<10).map { harness.start(URL(string: "http://host/\($0)")).outcome }
        #expect(harness.manager.isRunning)
        harness.manager.cancelAll()
        for outcome in outcomes { #expect(await outcome.error()?.code == .cancelled) }
        #expect(!harness.manager.isRunning)
    }

    @Test func `Cancelling the task cancels the load`() async throws {
        let harness = ManagerHarness()
        let context = harness.context()
        let task = Task { try await harness.manager.image(with: harness.url, context: context) }
        let load = await harness.loader.waitForLoads(1)[0]
        task.cancel()
        await #expect(throws: WebImageError.cancelled(harness.url)) { try await task.value }
        // The thread that started the load may learn of the cancellation only now.
        #expect(await load.becomesCancelled())
    }

    @Test func `A task cancelled before it starts throws the cancellation`() async throws {
        let harness = ManagerHarness()
        let context = harness.context()
        let (cancellation, unfinished) = AsyncStream<Void>.makeStream()
        let task = Task {
            // Ends only when the task is cancelled.
            for await _ in cancellation {}
            return try await harness.manager.image(with: harness.url, context: context)
        }
        task.cancel()
        await #expect(throws: WebImageError.cancelled(harness.url)) { try await task.value }
        #expect(harness.manager.pipeline.runningCount == 0)
        unfinished.finish()
    }

    @Test func `A task that waits for bytes can be cancelled`() async throws {
        let harness = ManagerHarness()
        let task = Task { try await harness.manager.data(with: harness.url) }
        let load = await harness.loader.waitForLoads(1)[0]
        task.cancel()
        await #expect(throws: WebImageError.cancelled(harness.url)) { try await task.value }
        // The thread that started the load may learn of the cancellation only now.
        #expect(await load.becomesCancelled())
    }

    @Test func `Priority is that of the most urgent caller while the load runs`() async {
        let harness = ManagerHarness()
        let low = harness.start(options: .lowPriority)
        let load = await harness.loader.waitForLoads(1)[0]
        #expect(load.priority == .low)
        let high = harness.start(options: [.highPriority, .lowPriority])
        #expect(load.priority == .high)
        high.operation.cancel()
        #expect(load.priority == .low)
        low.operation.setPriority(.normal)
        #expect(load.priority == .normal)
        low.operation.cancel()
    }

    @Test func `Ten thousand loads of a hundred URLs, half cancelled at random, complete once each`() async throws {
        let urls = (0..<100).map { URL(string: "http://host/\($0)")! }
        let workers = WorkQueue(name: "test", width: 4)
        let loader = ThreadedLoader(workers: workers)
        let cache = FakeCache()
        let coder = PlainCoder()
        let pipeline = Pipeline()
        let manager = WebImageManager(cache: cache, loader: loader, pipeline: pipeline)
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        let loading = context
        let completions = Lock([Int](repeating: 0, count: 10_000))
        let done = EventCounter()
        let cancellers = WorkQueue(name: "cancel", width: 2)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(part))
                    for number in stride(from: part, to: 10_000, by: 4) {
                        let url = urls.randomElement(using: &random)!
                        let operation = manager.loadImage(with: url, context: loading) { _ in
                            completions.withLock { $0[number] += 1 }
                            done.signal()
                        }
                        let isSpared = Int(url.lastPathComponent)?.isMultiple(of: 2) ?? false
                        if !isSpared { cancellers.submit { operation.cancel() } }
                    }
                }
            }
        }
        await done.wait(for: 10_000)
        await withCheckedContinuation { continuation in cancellers.submit(priority: .low) { continuation.resume() } }
        #expect(completions.withLock { $0.allSatisfy { $0 == 1 } })
        #expect(!manager.isRunning)
        #expect(await pipeline.becomesIdle())
        for url in urls where Int(url.lastPathComponent)?.isMultiple(of: 2) ?? false {
            #expect(loader.loadCount(of: url) == 1, "nobody cancelled loads of \(url)")
        }
    }
}

/// A loader that responds on other threads, and counts.
private final class ThreadedLoader: ImageLoading {
    private final class Operation: ImageLoaderOperation {
        let completion: Lock<(@Sendable (Result<LoadedImageData, WebImageError>) -> Void)?>

        init(_ completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void) {
            self.completion = Lock(completion)
        }

        var isCancelled: Bool { completion.withLock { $0 == nil } }
        func cancel() { end(.failure(.cancelled())) }
        func setPriority(_ priority: LoadPriority) {}

        func end(_ result: Result<LoadedImageData, WebImageError>) {
            let completion = completion.withLock { completion in
                defer { completion = nil }
                return completion
            }
            completion?(result)
        }
    }

    private let counts = Lock<[URL: Int]>([:])
    private let workers: WorkQueue

    init(workers: WorkQueue) { self.workers = workers }

    func loadCount(of url: URL) -> Int { counts.withLock { $0[url] ?? 0 } }

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        counts.withLock { $0[request.url, default: 0] += 1 }
        let operation = Operation(completion)
        workers.submit { operation.end(.success(LoadedImageData(data: Data("picture".utf8)))) }
        return operation
    }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { false }
}
