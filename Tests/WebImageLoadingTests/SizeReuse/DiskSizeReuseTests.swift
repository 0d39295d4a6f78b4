import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageLoading

/// Images of other sizes on disk, found by another process, which is another manager with another cache object here.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct DiskSizeReuseTests {
    private let harness: EndToEndHarness
    private let url: URL
    private var requestCount: Int { harness.server.requestCount() }

    init() throws {
        // 120 × 90 pixels, stored without loss, and 480 × 360 pixels, of which sizes are stored as JPEG.
        let drawing = [UInt8](try Fixtures.data("PNG/photo-rgb.png"))
        let photo = [UInt8](try Fixtures.data("JPEG/photo.jpg"))
        harness = try EndToEndHarness { request in
            .response(body: request.path.hasSuffix(".jpg") ? photo : drawing)
        }
        url = harness.server.url("/a.png")
    }

    /// A manager as of a new process: nothing in memory, the same directory.
    private func restarted() async -> WebImageManager {
        await harness.cache.flush()
        let cache = ImageCache(directory: harness.directory.path("cache"))
        return WebImageManager(cache: cache, loader: harness.downloader, pipeline: Pipeline())
    }

    private func context(
        _ side: Double? = nil,
        _ reuse: SizeReuse? = .disk,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> WebImageContext {
        .with {
            $0.thumbnailPixelSize = side.map { ImageSize(width: $0, height: $0) }
            $0.sizeReuse = reuse
            $0.callbackQueue = .inline
            change(&$0)
        }
    }

    private func key(_ side: Double?) -> String { harness.manager.cacheKey(for: url, context: context(side)) }

    /// Loads these sizes from the server, each from the original, and stores them.
    private func store(
        _ sides: [Double?],
        of url: URL? = nil,
        reuse: SizeReuse? = .disk,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) async throws {
        for side in sides {
            let context = context(side, reuse, change)
            _ = try await harness.manager.result(with: url ?? self.url, options: .waitStoreCache, context: context)
            await harness.cache.clear(.memory)
        }
    }

    /// What a load read from disk and delivered.
    private struct Trace {
        var results: [WebImageResult] = []
        var keys: [String] = []
        var decodes = 0
        var explanation = ""
        var last: WebImageResult { get throws { try #require(results.last) } }
    }

    private func trace(
        _ manager: WebImageManager,
        _ context: WebImageContext,
        url: URL? = nil,
        options: WebImageOptions = []
    ) async throws -> Trace {
        var context = context
        let recording = LoadRecording()
        context.observer = recording
        let (outcome, decodes) = (Outcome(), manager.pipeline.totals.decodes.value)
        manager.loadImage(with: url ?? self.url, options: options, context: context) { outcome.record($0) }
        var trace = Trace()
        while trace.results.last?.isFinal != true {
            trace.results = try await outcome.values(trace.results.count + 1).map { try $0.get() }
        }
        trace.decodes = manager.pipeline.totals.decodes.value - decodes
        trace.explanation = recording.explanation
        trace.keys = recording.events.compactMap { if case .diskHit(let key, _) = $0.kind { key } else { nil } }
        return trace
    }

    private func direct(_ file: String, _ side: Double) throws -> Image {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: side, height: side)
        return try ImageCodersManager.shared.decode(try Fixtures.data(file), options: options)
    }

    // MARK: Larger images

    @Test(arguments: [60.0, 50, 40, 30, 20, 10])
    func `A larger image on disk is scaled down, without a request and without reading the original`(_ side: Double)
        async throws
    {
        try await store([90])
        let (manager, requests) = (await restarted(), requestCount)
        let trace = try await trace(manager, context(side))
        let result = try trace.last
        #expect(trace.results.count == 1 && result.cacheType == .disk && requestCount == requests)
        #expect(trace.keys == [key(90)] && trace.decodes == 1)
        #expect(trace.explanation.contains("not on disk, but found on disk in another size"), "\(trace.explanation)")
        let direct = try direct("PNG/photo-rgb.png", side)
        #expect(result.image.pixelWidth == direct.pixelWidth && result.image.pixelHeight == direct.pixelHeight)
        let found = psnr(result.image.bitmap, direct.bitmap)
        #expect(found >= 45, "\(found) dB")
        let metadata = result.image.metadata
        #expect(metadata.sourceWidth == 120 && metadata.sourceHeight == 90 && metadata.isThumbnail)
        #expect(try !metadata.isIncremental && metadata.sourceHash == Fixtures.data("PNG/photo-rgb.png").contentHash)
        // It is an ordinary result, in both caches, and is not scaled again.
        let again = try await self.trace(manager, context(side, SizeReuse.none))
        #expect(try again.last.image === result.image)
        await (manager.imageCache as? ImageCache)?.flush()
        let third = try await self.trace(await restarted(), context(side))
        #expect(third.keys == [key(side)])
    }

    @Test func `The smallest that is large enough is used, and another if it was evicted or is damaged`() async throws {
        try await store([90, 84, 76])
        let disk = harness.cache.diskCache
        for expected in [76.0, 84, 90, nil] {
            let trace = try await trace(await restarted(), context(50) { $0.storeCacheType = ImageCacheType.none })
            #expect(trace.keys == [key(expected)], "\(expected ?? 0)")
            #expect(try trace.last.image.pixelWidth == 50)
            guard let expected else { break }
            if expected == 84 {
                let path = disk.cachePath(forKey: key(84))
                writeBytes(Array(readBytes(path).dropLast(60)), path)
            } else {
                disk.removeData(forKey: key(expected))
            }
        }
    }

    @Test func `An image stored with loss is not scaled`() async throws {
        let photo = harness.server.url("/a.jpg")
        try await store([300], of: photo)
        let trace = try await trace(await restarted(), context(100), url: photo)
        #expect(trace.keys == [photo.absoluteString] && trace.results.count == 1)
    }

    @Test func `A scaled image is recorded, but not scaled again`() async throws {
        try await store([100])
        let first = try await trace(await restarted(), context(60), options: .waitStoreCache)
        #expect(first.keys == [key(100)])
        harness.cache.diskCache.removeData(forKey: key(100))
        let second = try await trace(await restarted(), context(30), options: .waitStoreCache)
        #expect(second.keys.last == key(nil) && second.results.count <= 2)
    }

    @Test func `Memory is asked first`() async throws {
        try await store([90])
        let manager = await restarted()
        _ = try await trace(manager, context())
        let second = try await trace(manager, context(40))
        #expect(second.keys.isEmpty && second.decodes == 0)
        #expect(try second.last.cacheType == .memory)
    }

    @Test func `Results of size-covariant transformers are scaled, others are made again`() async throws {
        let flip = FlippingTransformer(horizontal: true, vertical: false)
        let blur = BlurTransformer(radius: 2)
        for (transformer, isScaled) in [(flip, true), (blur, false)] as [(any ImageTransformer, Bool)] {
            let change: (inout WebImageContext) -> Void = { $0.imageTransformer = .transformer(transformer) }
            try await store([90], change)
            let (manager, large) = (await restarted(), context(90, .disk, change))
            let trace = try await trace(manager, context(45, .disk, change))
            let largeKey = harness.manager.cacheKey(for: url, context: large)
            #expect(trace.keys == [isScaled ? largeKey : key(nil)])
            #expect(try trace.last.image.pixelWidth == 45)
        }
        // Neither is made from the other, or from an untransformed image.
        let plain = try await trace(await restarted(), context(45))
        #expect(plain.keys == [key(nil)])
        let expected = try direct("PNG/photo-rgb.png", 45).flipped(horizontally: true, vertically: false)
        let flipped = try await trace(await restarted(), context(45) { $0.imageTransformer = .transformer(flip) })
        #expect(try psnr(flipped.last.image.bitmap, expected.bitmap) >= 45)
    }

    // MARK: Without a record

    @Test func `Loads with other options neither record images nor use recorded ones`() async throws {
        let fast = { () -> ImageDecodeOptions in
            var options = ImageDecodeOptions()
            options.scalingQuality = .fast
            return options
        }()
        let ways: [(Double, WebImageOptions, (inout WebImageContext) -> Void)] = [
            (40, .queryMemoryData, { _ in }), (41, [], { $0.decodeToHDR = true }),
            (42, [], { $0.imageCoder = ImageCodersManager() }), (43, [], { $0.formatHint = .format(.png) }),
            (44, [], { $0.scaleDownLimitBytes = 4000 }),
            (45, [], { $0.decodeOptions = fast }),
            (46, [], { $0.originalQueryCacheType = ImageCacheType.none }),
        ]
        for (side, options, change) in ways {
            try await store([90])
            let trace = try await trace(await restarted(), context(side, .disk, change), options: options)
            #expect(!trace.keys.contains(key(90)), "\(side)")
            await harness.cache.clear(.all)
            guard side != 40, side != 46 else { continue }
            try await store([nil])
            try await store([90], change)
            #expect(harness.cache.readDetails(forKey: key(nil)).found?.variants.value == [], "\(side)")
            await harness.cache.clear(.all)
        }
    }

    @Test func `Without the original on disk there is no record, and the image is loaded again`() async throws {
        try await store([90]) { $0.originalStoreCacheType = ImageCacheType.none }
        let requests = requestCount
        let other = await restarted()
        let trace = try await trace(other, context(40))
        #expect(trace.keys.isEmpty && requestCount == requests + 1)
        // The same if it is evicted. What the other manager still writes would be found.
        await (other.imageCache as? ImageCache)?.flush()
        await harness.cache.clear(.all)
        try await store([90])
        await harness.cache.flush()
        harness.cache.diskCache.removeData(forKey: key(nil))
        let second = try await self.trace(await restarted(), context(30))
        #expect(second.keys.isEmpty, "\(second.explanation)")
        #expect(requestCount == requests + 3, "\(second.explanation)")
    }

    @Test func `An original that was stored without room has no record`() async throws {
        harness.cache.storeDataToDisk(try Fixtures.data("PNG/photo-rgb.png"), forKey: key(nil))
        try await store([90])
        #expect(harness.cache.readDetails(forKey: key(nil)).found?.variants.value == nil)
        #expect(try await trace(await restarted(), context(40)).keys == [key(nil)])
        // By default no entry has room.
        #expect(harness.cache.diskCache.entry(forKey: key(90))?.variants.value == nil)
    }

    @Test func `A damaged record is a miss`() async throws {
        try await store([90])
        let path = harness.cache.diskCache.cachePath(forKey: key(nil))
        let original = try Fixtures.data("PNG/photo-rgb.png").count
        var bytes = readBytes(path)
        for position in original..<(original + 3072) { bytes[position] ^= 0x55 }
        writeBytes(bytes, path)
        let trace = try await trace(await restarted(), context(40))
        #expect(trace.keys == [key(nil)])
        #expect(try trace.last.image.pixelWidth == 40)
    }

    @Test func `A record has at most 16 images`() async throws {
        try await store((0..<20).map { 30 + Double($0) }, reuse: .disk)
        let found = harness.cache.readDetails(forKey: key(nil)).found
        #expect(found?.variants.value?.count == 16 && found?.variants.value?.last?.width == 49)
    }

    @Test func `After the original has changed, images of the former one are not used`() async throws {
        try await store([90, 75])
        // Another process stores a newer original.
        let disk = harness.cache.diskCache
        var newer = CachedImageData(data: try Fixtures.data("PNG/photo-rgba.png"))
        newer.variants.value = []
        disk.store(newer, forKey: key(nil))
        let first = try await trace(await restarted(), context(40) { $0.storeCacheType = ImageCacheType.none })
        #expect(first.keys == [key(nil)])
        #expect(try first.last.image.metadata.sourceHash == newer.data.contentHash)
        // A record of the new one, under whose key there is still an image of the former one.
        let found = StoredVariant(
            size: (90, 68),
            sourceSize: (120, 90),
            box: ImageSize(width: 90, height: 90),
            fit: .inside,
            kind: try #require(LoadPlan.variantKind(.init(), coder: ImageCodersManager.shared, LoadPlan.Chain([]))),
            isExact: true
        )
        let cache = ImageCache(directory: harness.directory.path("cache"))
        await withCheckedContinuation { continuation in
            cache.record(found, madeOf: newer.data.contentHash, of: key(nil)) { continuation.resume() }
        }
        #expect(cache.readDetails(forKey: key(nil)).found?.variants.value == [found])
        let second = try await trace(await restarted(), context(40))
        #expect(second.keys == [key(90), key(nil)])
        #expect(try second.last.image.metadata.sourceHash == newer.data.contentHash)
    }

    @Test(arguments: [CachePolicy.revalidate, .http]) func `A revalidated original is asked for first`(
        _ policy: CachePolicy
    ) async throws {
        let change: (inout WebImageContext) -> Void = { $0.cachePolicy = policy }
        try await store([90], change)
        let requests = requestCount
        let trace = try await trace(await restarted(), context(45, .disk, change))
        #expect(requestCount <= requests + 1)
        #expect(try trace.last.image.pixelWidth == 45)
    }

    // MARK: Previews

    @Test func `A smaller image on disk is delivered first, as a preview`() async throws {
        try await store([50])
        let manager = await restarted()
        let trace = try await trace(manager, context(100))
        let preview = try #require(trace.results.first)
        #expect(trace.results.count == 2 && !preview.isFinal && preview.cacheType == .disk)
        #expect(preview.cacheKey == key(50) && preview.image.pixelWidth == 50 && preview.image.metadata.isIncremental)
        #expect(trace.keys == [key(50), key(nil)])
        #expect(try trace.last.image.pixelWidth == 100 && trace.last.image.metadata.isIncremental == false)
        #expect(manager.imageCache.memoryImage(forKey: key(50)) == nil)
        // One in memory is enough.
        let again = try await self.trace(manager, context())
        #expect(again.results.count == 2 && again.results.first?.cacheType == .memory)
        #expect(again.keys == [key(nil)])
    }

    @Test func `An image stored with loss is a preview, also a larger one`() async throws {
        let photo = harness.server.url("/a.jpg")
        try await store([200], of: photo)
        for side in [100.0, 400] {
            let trace = try await trace(await restarted(), context(side), url: photo)
            #expect(trace.results.count == 2 && trace.results.first?.image.pixelWidth == 200)
            #expect(try trace.last.image.pixelWidth == Int(side))
        }
    }

    @Test func `No preview is decoded for a load that takes one result, or one nearly as large as the original`()
        async throws
    {
        try await store([50])
        let manager = await restarted()
        let result = try await manager.result(with: url, context: context(100))
        #expect(result.isFinal && manager.pipeline.totals.decodes.value == 1)
        await harness.cache.clear(.all)
        try await store([70])
        let trace = try await trace(await restarted(), context(105))
        #expect(trace.results.count == 1 && trace.keys == [key(nil)])
    }

    @Test func `A manager's delegate changes nothing about it`() async throws {
        final class Delegate: WebImageManagerDelegate {}
        try await store([50])
        let (manager, delegate) = (await restarted(), Delegate())
        manager.delegate = delegate
        let trace = try await trace(manager, context(100))
        #expect(trace.results.count == 2 && trace.results.first?.cacheType == .disk)
        withExtendedLifetime(delegate) {}
    }

    @Test func `A stretched image is not a preview of one that is not, also after it was read from disk`() async throws
    {
        let stretched: (inout WebImageContext) -> Void = {
            $0.thumbnailPixelSize = ImageSize(width: 40, height: 40)
            $0.preserveAspectRatio = false
        }
        try await store([40], stretched)
        let manager = await restarted()
        let other = try await trace(manager, context(100))
        #expect(other.results.count == 1)
        _ = try await trace(manager, context(40, .disk, stretched))
        await harness.cache.clear(.memory)
        #expect(try await trace(manager, context(90)).results.first?.image.pixelHeight != 40)
    }
}
