import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageHTTP
@testable import WebImageLoading

@Suite struct DelegateTests {
    /// A delegate that counts its calls.
    private final class Delegate: WebImageManagerDelegate {
        private let state: Lock<(asked: [URL], failed: [WebImageError.Code], allows: Bool, blocks: Bool?)>

        init(allows: Bool = true, blocks: Bool? = nil) { state = Lock(([], [], allows, blocks)) }

        var asked: [URL] { state.withLock { $0.asked } }
        /// The failures it was asked about.
        var failed: [WebImageError.Code] { state.withLock { $0.failed } }

        func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool {
            state.withLock {
                $0.asked.append(url)
                return $0.allows
            }
        }

        func imageManager(
            _ manager: WebImageManager,
            shouldBlockFailedURL url: URL,
            error: WebImageError
        ) -> Bool? {
            state.withLock {
                $0.failed.append(error.code)
                return $0.blocks
            }
        }
    }

    /// A delegate with only default implementations.
    private final class Silent: WebImageManagerDelegate {}

    @Test func `The delegate is asked only after a miss`() async throws {
        let harness = ManagerHarness.answering()
        let delegate = Delegate()
        harness.manager.delegate = delegate
        #expect(harness.manager.delegate === delegate)
        _ = try await harness.start(options: .waitStoreCache).outcome.image()
        #expect(delegate.asked == [harness.url] && harness.loader.loads.count == 1)
        _ = try await harness.start().outcome.image()
        harness.cache.edit { $0.memory = [:] }
        #expect(try await harness.start().outcome.value().get().cacheType == .disk)
        harness.cache.edit { $0.memory = [:] }
        #expect(harness.start(options: .queryDiskDataSync).outcome.count == 1)
        #expect(
            await harness.start(URL(string: "http://host/other"), options: .fromCacheOnly).outcome.error()?.code
                == .notCached
        )
        #expect(delegate.asked == [harness.url], "hits and loads that do not download do not ask")
        _ = try await harness.start(options: .fromLoaderOnly).outcome.image()
        #expect(delegate.asked.count == 2 && harness.loader.loads.count == 2)
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `A refused download is an error that is not remembered`() async throws {
        let harness = ManagerHarness.answering()
        let delegate = Delegate(allows: false, blocks: true)
        harness.manager.delegate = delegate
        for options in [[], .fromLoaderOnly, .retryFailed, .queryDiskDataSync] as [WebImageOptions] {
            let error = await harness.start(options: options).outcome.error()
            #expect(error?.code == .downloadRefused && error?.url == harness.url)
        }
        await #expect(throws: WebImageError(.downloadRefused, "", url: harness.url)) {
            try await harness.manager.image(with: harness.url, context: harness.context())
        }
        await #expect(throws: WebImageError(.downloadRefused, "", url: harness.url)) {
            try await harness.manager.data(with: harness.url, context: harness.context())
        }
        #expect(!harness.manager.isFailed(harness.url) && harness.loader.loads.isEmpty)
        #expect(delegate.asked.count == 6 && harness.cache.diskKeys.isEmpty && !harness.manager.isRunning)
    }

    @Test func `Bytes on disk that are not an image are a miss, and the delegate is asked`() async throws {
        let harness = ManagerHarness.answering("good")
        let key = harness.url.absoluteString
        harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("bad".utf8)) }
        let refusing = Delegate(allows: false)
        harness.manager.delegate = refusing
        #expect(await harness.start().outcome.error()?.code == .downloadRefused)
        let allowing = Delegate()
        harness.manager.delegate = allowing
        #expect(try await harness.start(options: .waitStoreCache).outcome.value().get().cacheType == .none)
        #expect(refusing.asked.count == 1 && allowing.asked.count == 1)
    }

    @Test func `Loads that share a download each ask their own manager's delegate`() async throws {
        let harness = ManagerHarness()
        let other = WebImageManager(cache: harness.cache, loader: harness.loader, pipeline: harness.manager.pipeline)
        let (first, second) = (Delegate(), Delegate(allows: false))
        harness.manager.delegate = first
        other.delegate = second
        let outcomes = [harness.start().outcome, harness.start().outcome]
        let refused = Outcome()
        other.loadImage(with: harness.url, context: harness.context()) { refused.record($0) }
        #expect(await refused.error()?.code == .downloadRefused)
        await harness.loader.waitForLoads(1)[0].succeed()
        #expect(try await outcomes[0].image() === outcomes[1].image())
        #expect(first.asked.count == 2 && second.asked.count == 1 && harness.loader.loads.count == 1)
    }

    @Test func `A load cancelled while it searches the caches does not ask the delegate`() async throws {
        let harness = ManagerHarness()
        let cache = ProbeCache("held", ProbeCache.Log(), isHeld: true)
        let delegate = Delegate()
        harness.manager.delegate = delegate
        let context = harness.context { $0.imageCache = cache }
        let (operation, outcome) = harness.start(context: context)
        #expect(cache.queries.count == 1)
        operation.cancel()
        cache.answer()
        #expect(await outcome.error()?.code == .cancelled && outcome.count == 1)
        #expect(delegate.asked.isEmpty && harness.loader.loads.isEmpty && cache.queries[0].isCancelled)
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `A load that downloads after the delegate was asked can be cancelled and reprioritized`() async throws {
        let harness = ManagerHarness()
        let cache = ProbeCache("held", ProbeCache.Log(), isHeld: true)
        let delegate = Delegate()
        harness.manager.delegate = delegate
        let context = harness.context { $0.imageCache = cache }
        let (operation, outcome) = harness.start(options: .lowPriority, context: context)
        operation.setPriority(.high)
        cache.answer()
        cache.answer()
        let load = await harness.loader.waitForLoads(1)[0]
        #expect(load.priority == .high, "the priority set during the cache query")
        operation.cancel()
        #expect(load.isCancelled)
        #expect(await outcome.error()?.code == .cancelled && outcome.count == 1)
        #expect(delegate.asked.count == 1)
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `The delegate's rule for failed URLs replaces the loader's`() async {
        let lenient = ManagerHarness.answering("bad")
        let never = Delegate(blocks: false)
        lenient.manager.delegate = never
        _ = await lenient.start().outcome.error()
        #expect(!lenient.manager.isFailed(lenient.url), "the loader would have remembered it")
        let strict = ManagerHarness { _ in .failure(WebImageError(.timedOut, "too slow")) }
        let always = Delegate(blocks: true)
        strict.manager.delegate = always
        _ = await strict.start().outcome.error()
        #expect(strict.manager.isFailed(strict.url), "the loader would not have remembered it")
        let plain = ManagerHarness.answering("bad")
        let silent = Silent()
        plain.manager.delegate = silent
        _ = await plain.start().outcome.error()
        #expect(plain.manager.isFailed(plain.url) && plain.loader.loads.count == 1)
    }

    @Test func `A failed refresh is not remembered, and the delegate is not asked about it`() async {
        let harness = RefreshHarness("bad page", etag: "\"2\"")
        let delegate = Delegate(blocks: true)
        harness.manager.delegate = delegate
        harness.put("old", etag: "\"1\"")
        #expect(await harness.start().deliveries.texts(atLeast: 2) == ["old", "error 1001"])
        harness.server.edit { $0.error = WebImageError(.cannotConnectToHost, "offline") }
        #expect(await harness.start().deliveries.texts(atLeast: 2) == ["image", "error 2102"])
        #expect(delegate.failed.isEmpty && !harness.manager.isFailed(harness.url))
        #expect(await harness.start([]).deliveries.texts(atLeast: 1) == ["image"], "a cached image loads")
        // With nothing cached the same failure is one of the load.
        harness.fake.clear(.all, completion: nil)
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["error 2102"])
        #expect(delegate.failed == [.cannotConnectToHost] && harness.manager.isFailed(harness.url))
    }

    @Test func `A released delegate is not asked`() async throws {
        let harness = ManagerHarness.answering()
        do {
            let delegate = Delegate(allows: false)
            harness.manager.delegate = delegate
            #expect(!harness.manager.mayDownload(harness.url))
        }
        #expect(harness.manager.delegate == nil && harness.manager.mayDownload(harness.url))
        _ = try await harness.start().outcome.image()
    }
}
