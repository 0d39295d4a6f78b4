import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct LoadFlowTests {
    @Test func `A miss downloads, decodes, stores the bytes and the image, and delivers`() async throws {
        let harness = ManagerHarness.answering("bytes")
        let result = try await harness.start(options: .waitStoreCache).outcome.value().get()
        #expect(result.cacheType == .none)
        #expect(result.data == Data("bytes".utf8))
        #expect(result.cacheKey == "http://host/picture.png")
        #expect(harness.cache.edit { $0.disk[result.cacheKey]?.data } == Data("bytes".utf8))
        #expect(harness.cache.memoryImage(forKey: result.cacheKey) === result.image)
    }

    @Test func `Bytes whose image is the result are written to disk once`() async throws {
        let harness = ManagerHarness.answering()
        _ = try await harness.start(options: .waitStoreCache).outcome.image()
        #expect(harness.cache.edit { $0.stores.filter { $0.type.includesDisk }.count } == 1)
    }

    @Test func `A memory hit is delivered synchronously and starts no work`() async throws {
        let harness = ManagerHarness.answering()
        let first = try await harness.start().outcome.image()
        let (operation, outcome) = harness.start()
        #expect(outcome.count == 1)
        #expect(!operation.isRunning)
        #expect(try await outcome.image() === first)
        #expect(try await outcome.value().get().cacheType == .memory)
        #expect(harness.loader.loads.count == 1)
        #expect(harness.manager.pipeline.runningCount == 0)
    }

    @Test func `A disk hit is decoded, cached in memory and not downloaded`() async throws {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        let result = try await harness.start().outcome.value().get()
        #expect(result.cacheType == .disk)
        #expect(result.data == Data("old".utf8))
        #expect(harness.loader.loads.isEmpty)
        #expect(harness.cache.memoryKeys == [harness.url.absoluteString])
        #expect(harness.cache.edit { $0.stores.filter { $0.type.includesDisk }.isEmpty })
    }

    @Test func `Bytes on disk that are not an image are replaced by a download`() async throws {
        let harness = ManagerHarness.answering("good")
        let key = harness.url.absoluteString
        harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("bad".utf8)) }
        let result = try await harness.start(options: .waitStoreCache).outcome.value().get()
        #expect(result.cacheType == .none)
        #expect(harness.cache.edit { $0.disk[key]?.data } == Data("good".utf8))
    }

    @Test func `A download that is not an image is an error that names the URL, and is not stored`() async {
        let harness = ManagerHarness.answering("bad")
        let error = await harness.start(options: .waitStoreCache).outcome.error()
        #expect(error?.code == .badImageData)
        #expect(error?.url == harness.url)
        #expect(harness.cache.diskKeys.isEmpty && harness.cache.memoryKeys.isEmpty)
    }

    @Test func `A thumbnail is cached under its own key, and the original under the plain key`() async throws {
        let harness = ManagerHarness.answering()
        let result = try await harness.start(options: .waitStoreCache, context: harness.thumbnail(2)).outcome.value()
            .get()
        let key = harness.manager.cacheKey(for: harness.url, context: harness.thumbnail(2))
        #expect(result.cacheKey == key && key != harness.url.absoluteString)
        #expect(result.data == nil, "the downloaded bytes are not those of the thumbnail")
        #expect(harness.cache.memoryKeys == [key])
        #expect(harness.cache.diskKeys == [key, harness.url.absoluteString])
        #expect(harness.cache.edit { $0.disk[key]?.data } == Data("encoded".utf8))
    }

    @Test func `A size set only in the decode options has no effect, because it is not part of the key`() async throws {
        let harness = ManagerHarness.answering()
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 1, height: 1)
        let context = harness.context { $0.decodeOptions = options }
        #expect(try await harness.start(context: context).outcome.image().pixelWidth == 4)
    }

    @Test func `A stored thumbnail is found on disk without the original`() async throws {
        let harness = ManagerHarness.answering()
        let key = harness.manager.cacheKey(for: harness.url, context: harness.thumbnail(2))
        harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("small".utf8)) }
        let result = try await harness.start(context: harness.thumbnail(2)).outcome.value().get()
        #expect(result.cacheType == .disk)
        #expect(result.data == Data("small".utf8))
        #expect(result.image.metadata.isThumbnail)
        #expect(harness.coder.decodes.map(\.thumbnailPixelSize) == [nil], "it is small already")
        #expect(harness.loader.loads.isEmpty)
    }

    @Test func `A stored thumbnail that is not an image is made again from the original on disk`() async throws {
        let harness = ManagerHarness.answering()
        let key = harness.manager.cacheKey(for: harness.url, context: harness.thumbnail(2))
        harness.cache.edit { content in
            content.disk[key] = CachedImageData(data: Data("bad".utf8))
            content.disk[harness.url.absoluteString] = CachedImageData(data: Data("good".utf8))
        }
        let result = try await harness.start(options: .waitStoreCache, context: harness.thumbnail(2)).outcome.value()
            .get()
        #expect(result.image.pixelWidth == 2)
        #expect(harness.loader.loads.isEmpty)
        #expect(harness.cache.edit { $0.disk[key]?.data } == Data("encoded".utf8))
    }

    @Test func `fromCacheOnly: a miss is an error, and nothing is downloaded or remembered as failed`() async {
        let harness = ManagerHarness.answering()
        #expect(await harness.start(options: .fromCacheOnly).outcome.error()?.code == .notCached)
        #expect(harness.loader.loads.isEmpty)
        #expect(!harness.manager.isFailed(harness.url))
    }

    @Test func `fromLoaderOnly: the caches are not read, but written`() async throws {
        let harness = ManagerHarness.answering("new")
        let key = harness.url.absoluteString
        _ = try await harness.start().outcome.image()
        harness.cache.edit { $0.diskReads = [] }
        let result = try await harness.start(options: [.fromLoaderOnly, .waitStoreCache]).outcome.value().get()
        #expect(result.cacheType == .none)
        #expect(harness.cache.edit { $0.diskReads.isEmpty })
        #expect(harness.cache.memoryImage(forKey: key) === result.image)
        #expect(harness.loader.loads.count == 2)
    }

    @Test func `The synchronous disk query delivers before the call returns`() async throws {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("old".utf8)) }
        let (_, outcome) = harness.start(options: .queryDiskDataSync)
        #expect(outcome.count == 1)
        #expect(try await outcome.value().get().cacheType == .disk)
        let (_, small) = harness.start(options: .queryDiskDataSync, context: harness.thumbnail(2))
        #expect(small.count == 1, "made from the original on disk")
        #expect(try await small.image().pixelWidth == 2)
    }

    @Test func `Completion can wait for the stores`() async throws {
        let harness = ManagerHarness.answering()
        harness.cache.edit { $0.holdsCompletions = true }
        let waiting = harness.start(options: .waitStoreCache, context: harness.thumbnail(2)).outcome
        let eager = try await harness.start(context: harness.thumbnail(2)).outcome.image()
        #expect(eager.pixelWidth == 2)
        #expect(waiting.count == 0)
        harness.cache.releaseCompletions()
        harness.cache.edit { $0.holdsCompletions = false }
        harness.cache.releaseCompletions()
        #expect(try await waiting.image() === eager)
    }

    @Test func `A key filter makes the key, and nil means neither search nor store`() async throws {
        let harness = ManagerHarness.answering()
        let filtered = harness.context { $0.cacheKeyFilter = CacheKeyFilter { _ in "mine" } }
        #expect(
            try await harness.start(options: .waitStoreCache, context: filtered).outcome.value().get().cacheKey
                == "mine"
        )
        #expect(harness.cache.diskKeys == ["mine"])
        let none = harness.context { $0.cacheKeyFilter = CacheKeyFilter { _ in nil } }
        let result = try await harness.start(options: .waitStoreCache, context: none).outcome.value().get()
        #expect(result.cacheKey.isEmpty && result.cacheType == .none)
        #expect(harness.cache.diskKeys == ["mine"])
        #expect(harness.loader.loads.count == 2)
    }

    @Test func `Store types of the context are obeyed`() async throws {
        let harness = ManagerHarness.answering()
        let nowhere = harness.context {
            $0.storeCacheType = ImageCacheType.none
            $0.originalStoreCacheType = ImageCacheType.none
        }
        _ = try await harness.start(options: .waitStoreCache, context: nowhere).outcome.image()
        #expect(harness.cache.diskKeys.isEmpty && harness.cache.memoryKeys.isEmpty)
        let both = harness.context {
            $0.imageTransformer = .transformer(FakeTransformer("t"))
            $0.originalStoreCacheType = .all
        }
        _ = try await harness.start(options: .waitStoreCache, context: both).outcome.image()
        let key = harness.manager.cacheKey(for: harness.url, context: both)
        #expect(harness.cache.memoryKeys == [key, harness.url.absoluteString])
        #expect(harness.cache.diskKeys == [key, harness.url.absoluteString])
    }

    @Test func `An image says which bytes it was made of if its load uses any cache`() async throws {
        func hash(_ change: @escaping (inout WebImageContext) -> Void) async throws -> UInt64? {
            let harness = ManagerHarness.answering("bytes")
            let context = harness.context {
                $0.queryCacheType = ImageCacheType.none
                $0.originalQueryCacheType = ImageCacheType.none
                $0.storeCacheType = ImageCacheType.none
                $0.originalStoreCacheType = ImageCacheType.none
                change(&$0)
            }
            let load = harness.start(options: .waitStoreCache, context: context)
            return try await load.outcome.image().metadata.knownSourceHash
        }
        #expect(try await hash { _ in } == nil)
        #expect(try await hash { ($0.storeCacheType, $0.cacheKeyFilter) = (.all, CacheKeyFilter { _ in nil }) } == nil)
        let known = Data("bytes".utf8).contentHash
        #expect(try await hash { $0.storeCacheType = .memory } == known)
        #expect(try await hash { $0.originalStoreCacheType = .disk } == known)
        #expect(try await hash { $0.queryCacheType = .memory } == known)
        #expect(
            try await hash {
                ($0.originalQueryCacheType, $0.imageTransformer) = (.disk, .transformer(FakeTransformer("t")))
            } == known
        )
    }

    @Test func `An original in memory is transformed without decoding if the context allows it`() async throws {
        let harness = ManagerHarness.answering()
        _ = try await harness.start().outcome.image()
        let context = harness.context {
            $0.imageTransformer = .transformer(FakeTransformer("t"))
            $0.originalQueryCacheType = .all
        }
        let image = try await harness.start(context: context).outcome.image()
        #expect(image.metadata.isTransformed)
        #expect(harness.coder.decodes.count == 1)
    }

    @Test func `A missing or empty URL is an error and starts no work`() async {
        let harness = ManagerHarness.answering()
        let (manager, context) = (harness.manager, harness.context())
        let loads: [(Outcome) -> WebImageLoadOperation] = [
            { outcome in manager.loadImage(with: nil, context: context) { outcome.record($0) } },
            { outcome in manager.loadImage(with: "", context: context) { outcome.record($0) } },
        ]
        for load in loads {
            let outcome = Outcome()
            let operation = load(outcome)
            #expect(outcome.count == 1 && !operation.isRunning && !manager.isRunning)
            #expect(await outcome.error()?.code == .invalidURL)
        }
        #expect(harness.loader.loads.isEmpty && harness.cache.edit { $0.diskReads.isEmpty })
    }
}
