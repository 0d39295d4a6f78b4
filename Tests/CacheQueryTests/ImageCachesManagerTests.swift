import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct ImageCachesManagerTests {
    private func image() throws -> Image { Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8)) }

    private func query(_ harness: CachesHarness) -> (any WebImageOperation, Answers<CachedImageData?>) {
        let answers = Answers<CachedImageData?>()
        return (harness.manager.queryDisk(forKey: "k", priority: .normal) { answers.note($0) }, answers)
    }

    @Test func `There is one of each shared instance`() {
        #expect(ImageCachesManager.shared === ImageCachesManager.shared)
        #expect(ImageCachesManager.shared.caches.map(ObjectIdentifier.init) == [ObjectIdentifier(ImageCache.shared)])
        #expect(ImageCache.shared === ImageCache.shared)
        #expect(WebImageManager.shared === WebImageManager.shared)
        #expect(WebImageManager.shared.imageCache === ImageCache.shared)
        #expect(WebImageManager.shared.imageLoader === ImageLoadersManager.shared)
        #expect(WebImageDownloader.shared === WebImageDownloader.shared)
        #expect(ImageCodersManager.shared === ImageCodersManager.shared)
    }

    @Test func `The cache added last is asked first`() throws {
        let harness = CachesHarness("low", "middle", "high")
        let (_, answers) = query(harness)
        #expect(answers.values.map { $0?.data } == [Data("high".utf8)])
        #expect(harness.manager.diskEntry(forKey: "k")?.data == Data("high".utf8))
        #expect(harness.asked == ["high", "high"])
        let (above, below) = (try image(), try image())
        harness.low.put(below, forKey: "k")
        #expect(harness.manager.memoryImage(forKey: "k") === below)
        harness.middle.put(above, forKey: "k")
        #expect(harness.manager.memoryImage(forKey: "k") === above)
        harness.manager.queryPolicy = .concurrent
        #expect(harness.manager.memoryImage(forKey: "k") === above)
        harness.manager.queryPolicy = .lowestOnly
        #expect(harness.manager.memoryImage(forKey: "k") === below)
        #expect(harness.manager.diskEntry(forKey: "k")?.data == Data("low".utf8))
        harness.manager.queryPolicy = .highestOnly
        #expect(harness.manager.memoryImage(forKey: "k") == nil)
        #expect(harness.manager.diskEntry(forKey: "k")?.data == Data("high".utf8))
    }

    @Test
    func `An added cache is the highest, a removed one is not asked any more, and the manager cannot contain itself`() {
        let harness = CachesHarness()
        let manager = harness.manager
        let top = ProbeCache("top", harness.log, entry: "top")
        manager.add(top)
        manager.add(manager)
        #expect(manager.caches.count == 4 && manager.caches.last === top)
        #expect(query(harness).1.values == [CachedImageData(data: Data("top".utf8))])
        manager.remove(top)
        manager.caches = [manager, harness.low, manager]
        #expect(manager.caches.map(ObjectIdentifier.init) == [ObjectIdentifier(harness.low)])
        harness.log.clear()
        _ = query(harness)
        #expect(harness.asked == ["low"])
    }

    @Test(arguments: [ImageCachesManager.OperationPolicy.serial, .concurrent])
    func `Every memory is searched, the highest first, before any disk is read`(
        policy: ImageCachesManager.OperationPolicy
    ) async throws {
        let harness = CachesHarness(nil, nil, "high")
        harness.manager.queryPolicy = policy
        let manager = WebImageManager(cache: harness.manager, loader: FakeLoader(), pipeline: Pipeline())
        let url = testURL("/a")
        let image = try image()
        harness.low.put(image, forKey: url.absoluteString)
        harness.log.clear()
        let result = try await manager.result(with: url)
        #expect(result.image === image && result.cacheType == .memory, "though a higher cache has an entry on disk")
        #expect(harness.log.entries == ["high memory", "middle memory", "low memory"])
    }

    @Test func `In order: the first hit answers, and lower caches are not asked`() {
        let harness = CachesHarness("low", "middle", nil, isHeld: true)
        let (_, answers) = query(harness)
        harness.high.answer()
        #expect(answers.count == 0 && harness.asked == ["high", "middle"])
        harness.middle.answer()
        #expect(answers.values == [CachedImageData(data: Data("middle".utf8))])
        #expect(harness.asked == ["high", "middle"])
    }

    @Test func `The first hit answers, and the other caches are not asked`() {
        let harness = CachesHarness("low", nil, "high", isHeld: true)
        harness.manager.queryPolicy = .concurrent
        let (operation, answers) = query(harness)
        harness.middle.answer()
        #expect(answers.count == 0)
        harness.low.answer()
        #expect(answers.values == [CachedImageData(data: Data("low".utf8))])
        #expect(harness.high.queries[0].isCancelled, "unneeded queries are cancelled")
        harness.high.answer()
        operation.cancel()
        #expect(answers.count == 1 && !operation.isCancelled)
    }

    @Test func `Concurrently without a hit: the miss is reported after the last answer`() {
        let harness = CachesHarness(isHeld: true)
        harness.manager.queryPolicy = .concurrent
        let (_, answers) = query(harness)
        harness.low.answer()
        harness.high.answer()
        #expect(answers.count == 0)
        harness.middle.answer()
        #expect(answers.values == [nil])
    }

    @Test(arguments: [ImageCachesManager.OperationPolicy.serial, .concurrent])
    func `Cancelling completes once and reaches running queries`(policy: ImageCachesManager.OperationPolicy) {
        let harness = CachesHarness("low", "middle", "high", isHeld: true)
        harness.manager.queryPolicy = policy
        let (operation, answers) = query(harness)
        let asked = harness.asked
        operation.cancel()
        #expect(answers.values == [nil] && operation.isCancelled)
        for cache in [harness.high, harness.middle, harness.low] {
            #expect(cache.queries.allSatisfy { $0.isCancelled })
            cache.answer()
        }
        operation.cancel()
        #expect(answers.count == 1 && harness.asked == asked, "and the next is not asked")
    }

    @Test func `A priority reaches running and later queries`() throws {
        let harness = CachesHarness(isHeld: true)
        let (operation, _) = query(harness)
        let loading = try #require(operation as? any ImageLoaderOperation)
        loading.setPriority(.high)
        #expect(harness.high.queries[0].priority == .high)
        let all = CachesHarness(isHeld: true)
        all.manager.queryPolicy = .concurrent
        let concurrent = try #require(query(all).0 as? any ImageLoaderOperation)
        concurrent.setPriority(.low)
        #expect([all.high, all.middle, all.low].allSatisfy { $0.queries[0].priority == .low })
    }

    @Test func `A cache removed during a query still answers`() {
        let harness = CachesHarness("low", nil, nil, isHeld: true)
        let (_, answers) = query(harness)
        harness.manager.caches = []
        harness.high.answer()
        harness.middle.answer()
        harness.low.answer()
        #expect(answers.values == [CachedImageData(data: Data("low".utf8))])
    }

    @Test(arguments: [ImageCachesManager.OperationPolicy.serial, .concurrent])
    func `A store completes after the last cache`(policy: ImageCachesManager.OperationPolicy) throws {
        let harness = CachesHarness(isHeld: true)
        harness.manager.storePolicy = policy
        let ends = Answers<Bool>()
        harness.manager.store(ImageStoreRequest(key: "k", image: try image(), data: Data([1]))) { ends.note(true) }
        let caches = [harness.high, harness.middle, harness.low]
        if policy == .serial {
            #expect(
                harness.log.entries == caches.map { "\($0.name) store memory" },
                "memory is written before the return"
            )
            for cache in caches { cache.answer(1) }
        }
        for cache in caches {
            #expect(ends.count == 0)
            cache.answer()
        }
        #expect(ends.count == 1)
        let level = policy == .serial ? "disk" : "all"
        #expect(harness.log.entries.suffix(3) == caches.map { "\($0.name) store \(level)" }[...])
    }

    @Test(arguments: [ImageCachesManager.OperationPolicy.serial, .concurrent])
    func `A removal completes after the last cache`(policy: ImageCachesManager.OperationPolicy) {
        let harness = CachesHarness()
        harness.manager.removePolicy = policy
        harness.manager.clearPolicy = policy
        let ends = Answers<Bool>()
        harness.manager.removeImage(forKey: "k", from: .all) { ends.note(true) }
        harness.manager.clear(.memory) { ends.note(true) }
        harness.manager.clear(.none) { ends.note(true) }
        #expect(ends.count == 3)
        #expect(
            harness.log.entries.filter { $0.contains("clear") } == [
                "high clear memory", "middle clear memory", "low clear memory",
            ]
        )
        harness.manager.removeImage(forKey: "k", from: .all, completion: nil)
        harness.manager.clear(.all, completion: nil)
    }

    @Test(arguments: [ImageCachesManager.OperationPolicy.serial, .concurrent])
    func `The reported level of a key is that of the first cache that has it`(
        policy: ImageCachesManager.OperationPolicy
    ) {
        let harness = CachesHarness("low", nil, nil)
        harness.manager.containsPolicy = policy
        let answers = Answers<ImageCacheType>()
        harness.manager.containsImage(forKey: "k", in: .all) { answers.note($0) }
        harness.manager.caches = [harness.high, harness.middle]
        harness.manager.containsImage(forKey: "k", in: .all) { answers.note($0) }
        #expect(answers.values == [.disk, .none])
    }

    @Test func `Validators are set on the entry that a query finds`() throws {
        let validators = try #require(CacheValidators(etag: "\"1\"", lastModified: nil))
        let harness = CachesHarness("low", "middle", nil)
        harness.manager.amend(validators: validators, forKey: "k")
        #expect(harness.middle.validators == validators && harness.low.validators == nil)
        let unsure = CachesHarness("low", "middle", nil)
        unsure.manager.queryPolicy = .concurrent
        unsure.manager.amend(validators: validators, forKey: "k")
        #expect(unsure.middle.validators == nil && unsure.low.validators == nil)
        let sure = CachesHarness("low", nil, nil)
        sure.manager.queryPolicy = .concurrent
        sure.manager.amend(validators: validators, forKey: "k")
        sure.manager.amend(validators: nil, forKey: "")
        #expect(sure.low.validators == validators)
        let only = CachesHarness("low", "middle", "high")
        only.manager.queryPolicy = .lowestOnly
        only.manager.amend(validators: validators, forKey: "k")
        #expect(only.low.validators == validators && only.high.validators == nil)
    }

    @Test func `A miss of the highest cache can be a hit of the lowest`() async throws {
        let harness = ManagerHarness.answering("downloaded")
        let (low, high) = (FakeCache(), FakeCache())
        let caches = ImageCachesManager(caches: [low, high])
        low.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("low".utf8)) }
        let context = harness.context { $0.imageCache = caches }
        let result = try await harness.start(options: .waitStoreCache, context: context).outcome.value().get()
        #expect(result.cacheType == .disk && result.data == Data("low".utf8))
        #expect(harness.loader.loads.isEmpty)
        #expect(high.memoryImage(forKey: result.cacheKey) === result.image, "it is stored where one stores")
        let other = try #require(URL(string: "http://host/other"))
        _ = try await harness.start(other, options: .waitStoreCache, context: context).outcome.image()
        #expect(high.diskKeys == [other.absoluteString] && low.diskKeys == [harness.url.absoluteString])
        let again = harness.start(other, context: context).outcome
        #expect(again.count == 1, "a memory hit is delivered in the call")
    }

    @Test func `With a query of disk only, memories are neither searched nor filled`() async throws {
        let harness = ManagerHarness.answering("downloaded")
        let (low, high) = (FakeCache(), FakeCache())
        let key = harness.url.absoluteString
        let other = try image()
        for cache in [low, high] { cache.edit { $0.memory[key] = other } }
        low.edit { $0.disk[key] = CachedImageData(data: Data("low".utf8)) }
        let context = harness.context {
            $0.imageCache = ImageCachesManager(caches: [low, high])
            ($0.queryCacheType, $0.storeCacheType) = (.disk, .disk)
        }
        let found = try await harness.start(options: .waitStoreCache, context: context).outcome.value().get()
        #expect(found.cacheType == .disk && found.data == Data("low".utf8) && found.image !== other)
        #expect(low.edit { $0.memory[key] } === other && high.edit { $0.memory[key] } === other)
        let missing = try #require(URL(string: "http://host/missing"))
        _ = try await harness.start(missing, options: .waitStoreCache, context: context).outcome.image()
        #expect(high.diskKeys == [missing.absoluteString])
        #expect(low.memoryKeys == [key] && high.memoryKeys == [key])
        let again = try await harness.start(missing, context: context).outcome.value().get()
        #expect(again.cacheType == .disk && harness.loader.loads.count == 1)
    }

    @Test func `A load works with an empty caches manager`() async throws {
        let harness = ManagerHarness.answering()
        let context = harness.context { $0.imageCache = ImageCachesManager(caches: []) }
        let result = try await harness.start(options: .waitStoreCache, context: context).outcome.value().get()
        #expect(result.cacheType == .none)
        let none = harness.context {
            $0.imageCache = ImageCachesManager(caches: [FakeCache(), FakeCache()])
            $0.cacheKeyFilter = CacheKeyFilter { _ in nil }
        }
        #expect(try await harness.start(options: .waitStoreCache, context: none).outcome.value().get().cacheKey.isEmpty)
    }

    @Test func `Ten thousand queries cancelled at random complete once each`() async {
        let workers = WorkQueue(name: "test", width: 3)
        let caches = (0..<3).map { ThreadedCache(workers, hasEntry: $0 == 0) }
        let manager = ImageCachesManager(caches: caches)
        let counts = Lock([Int](repeating: 0, count: 10_000))
        let missing = Lock(0)
        let done = EventCounter()
        for number in 0..<10_000 {
            manager.queryPolicy = number.isMultiple(of: 2) ? .serial : .concurrent
            let query = manager.queryDisk(forKey: "k", priority: .normal) { entry in
                counts.withLock { $0[number] += 1 }
                if entry == nil, !number.isMultiple(of: 3) { missing.withLock { $0 += 1 } }
                done.signal()
            }
            if number.isMultiple(of: 3) { workers.submit(priority: .high) { query.cancel() } }
        }
        await done.wait(for: 10_000)
        await withCheckedContinuation { continuation in workers.submit(priority: .low) { continuation.resume() } }
        #expect(counts.withLock { counts in counts.allSatisfy { $0 == 1 } })
        #expect(missing.withLock { $0 } == 0, "an entry counts, also if a cache without one answers at the same time")
    }
}

/// A cache that answers on other threads.
private final class ThreadedCache: ImageCaching {
    private let workers: WorkQueue
    private let hasEntry: Bool

    init(_ workers: WorkQueue, hasEntry: Bool) {
        self.workers = workers
        self.hasEntry = hasEntry
    }

    func memoryImage(forKey key: String) -> Image? { nil }
    func diskEntry(forKey key: String) -> CachedImageData? { hasEntry ? CachedImageData(data: Data([1])) : nil }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        DiskQuery(on: workers, priority, completion) { [self] in diskEntry(forKey: key) }
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) { completion?() }
    func removeImage(forKey key: String, from: ImageCacheType, completion: (@Sendable () -> Void)?) { completion?() }
    func containsImage(
        forKey key: String,
        in: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) { completion(.none) }
    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) { completion?() }
}
