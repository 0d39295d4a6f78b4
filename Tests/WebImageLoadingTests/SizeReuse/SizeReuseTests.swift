import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct SizeReuseTests {
    private let harness: EndToEndHarness
    private let url: URL
    private var manager: WebImageManager { harness.manager }
    private var cache: ImageCache { harness.cache }
    private var decodeCount: Int { harness.pipeline.totals.decodes.value }
    private var requestCount: Int { harness.server.requestCount() }

    init() throws {
        let photo = [UInt8](try Fixtures.data("JPEG/photo.jpg"))
        let moving = [UInt8](try Fixtures.data("GIF/animated.gif"))
        harness = try EndToEndHarness { request in .response(body: request.path == "/a.gif" ? moving : photo) }
        url = harness.server.url("/a.jpg")
    }

    private func context(
        _ side: Double? = nil,
        _ reuse: SizeReuse? = .memory,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> WebImageContext {
        .with {
            $0.thumbnailPixelSize = side.map { ImageSize(width: $0, height: $0) }
            $0.sizeReuse = reuse
            $0.callbackQueue = .inline
            change(&$0)
        }
    }

    private func key(_ side: Double) -> String { manager.cacheKey(for: url, context: context(side)) }

    private func load(_ context: WebImageContext, options: WebImageOptions = [], url: URL? = nil) async throws
        -> WebImageResult
    {
        try await manager.result(with: url ?? self.url, options: options, context: context)
    }

    /// Starts a load and returns all of its results.
    private func results(_ context: WebImageContext, options: WebImageOptions = []) async throws -> [WebImageResult] {
        let outcome = Outcome()
        manager.loadImage(with: url, options: options, context: context) { outcome.record($0) }
        var count = 1
        while true {
            let results = try await outcome.values(count).map { try $0.get() }
            if results.last?.isFinal == true { return results }
            count = results.count + 1
        }
    }

    // MARK: Larger images

    @Test(arguments: [nil, 300.0]) func `A larger image in memory is scaled down, without a request and a decode`(
        _ large: Double?
    ) async throws {
        _ = try await load(context(large))
        await harness.cache.clear(.disk)
        let (decodes, requests) = (decodeCount, requestCount)
        let result = try await load(context(200))
        #expect(result.image.pixelWidth == 200 && result.image.pixelHeight == 150)
        #expect(result.cacheType == .memory && result.isFinal && result.data == nil)
        #expect(decodeCount == decodes && requestCount == requests)
        let metadata = result.image.metadata
        #expect(metadata.isThumbnail && !metadata.isIncremental && metadata.sourceWidth == 480)
        // It is an ordinary result, in both caches.
        let again = try await load(context(200, SizeReuse.none))
        #expect(again.image === result.image && again.cacheType == .memory)
    }

    @Test func `The manager decides if the context does not, and reuses nothing by default`() async throws {
        _ = try await load(context(300, nil))
        let decodes = decodeCount
        _ = try await load(context(200, nil))
        #expect(decodeCount == decodes + 1 && manager.sizeReuse == .none)
        manager.sizeReuse = .memory
        _ = try await load(context(150, nil))
        #expect(decodeCount == decodes + 1)
        _ = try await load(context(140, SizeReuse.none))
        #expect(decodeCount == decodes + 2)
    }

    @Test func `An image that is less than one and a half times as large is not scaled`() async throws {
        _ = try await load(context(200))
        let decodes = decodeCount
        _ = try await load(context(140))
        #expect(decodeCount == decodes + 1)
    }

    @Test func `An image of the same size has the same pixels`() async throws {
        let first = try await load(context(200))
        let decodes = decodeCount
        let other = context(200) { $0.thumbnailPixelSize = ImageSize(width: 200, height: 190) }
        let second = try await load(other)
        #expect(second.image.bitmap.storage === first.image.bitmap.storage && decodeCount == decodes)
    }

    @Test func `A scaled image is not scaled again`() async throws {
        _ = try await load(context(400))
        _ = try await load(context(200))
        cache.removeImageFromMemory(forKey: key(400))
        let decodes = decodeCount
        _ = try await load(context(100))
        #expect(decodeCount == decodes + 1)
    }

    @Test func `A thumbnail read from disk, which may be lossy, is not scaled`() async throws {
        _ = try await load(context(300), options: .waitStoreCache)
        await cache.clear(.memory)
        let stored = try await load(context(300))
        #expect(stored.cacheType == .disk)
        let decodes = decodeCount
        _ = try await load(context(100))
        #expect(decodeCount == decodes + 1)
    }

    @Test func `Loads that must not use memory, or want the encoded bytes, are not scaled`() async throws {
        _ = try await load(context(300))
        let ways: [(Double, WebImageOptions, (inout WebImageContext) -> Void)] = [
            (101, .fromLoaderOnly, { _ in }), (102, [], { $0.queryCacheType = .disk }),
            (103, .queryMemoryData, { _ in }), (104, [], { $0.scaleDownLimitBytes = 4000 }),
            (105, [], { $0.decodeToHDR = true }), (106, [], { $0.imageCoder = ImageCodersManager() }),
        ]
        for (side, options, change) in ways {
            let decodes = decodeCount
            _ = try await load(context(side, .memory, change), options: options)
            #expect(decodeCount == decodes + 1, "\(side)")
        }
    }

    @Test func `Results of size-covariant transformers are scaled, others are made again`() async throws {
        let flip = FlippingTransformer(horizontal: true, vertical: false)
        let blur = BlurTransformer(radius: 2)
        for (transformer, isScaled) in [(flip, true), (blur, false)] as [(any ImageTransformer, Bool)] {
            let change: (inout WebImageContext) -> Void = { $0.imageTransformer = .transformer(transformer) }
            _ = try await load(context(300, .memory, change))
            let decodes = decodeCount
            let result = try await load(context(150, .memory, change))
            #expect(result.image.pixelWidth == 150 && result.image.metadata.isTransformed)
            #expect((decodeCount == decodes) == isScaled)
        }
        // Neither is made from the other, or from an untransformed image.
        let plain = try await load(context(150)).image
        let flipped = try await load(context(150) { $0.imageTransformer = .transformer(flip) }).image
        let expected = try plain.flipped(horizontally: true, vertically: false)
        #expect(psnr(flipped.bitmap, expected.bitmap) > 40)
    }

    @Test func `Animations are not scaled`() async throws {
        let moving = harness.server.url("/a.gif")
        let whole = try await load(context(), url: moving)
        #expect(whole.image.metadata.isAnimated)
        let decodes = decodeCount
        let small = try await load(context(10), url: moving)
        #expect(small.image.metadata.isAnimated && decodeCount == decodes + 1)
    }

    @Test func `After the original has changed, images of the former one are not used`() async throws {
        let bodies = try ["JPEG/photo.jpg", "JPEG/orientation-1.jpg"].map { [UInt8](try Fixtures.data($0)) }
        let number = Counter()
        let harness = try EndToEndHarness { _ in .response(body: bodies[min(number.add() - 1, 1)]) }
        let url = harness.server.url("/b.jpg")
        _ = try await harness.manager.image(with: url, context: context(300))
        let newer = try await harness.manager.image(with: url, options: .fromLoaderOnly, context: context(40))
        let result = try await harness.manager.image(with: url, context: context(20))
        #expect(result.metadata.sourceHash == newer.metadata.sourceHash && result.metadata.sourceWidth != 480)
    }

    @Test(arguments: [CachePolicy.revalidate, .http])
    func `An image that has to be revalidated is not scaled from another if nothing is known about the original`(
        _ policy: CachePolicy
    ) async throws {
        let change: (inout WebImageContext) -> Void = {
            $0.cachePolicy = policy
            ($0.storeCacheType, $0.originalStoreCacheType) = (.memory, ImageCacheType.none)
        }
        _ = try await load(context(400, .memory, change))
        #expect(cache.memoryImage(forKey: key(400)) != nil)
        let requests = requestCount
        let result = try await load(context(200, .memory, change))
        #expect(result.cacheType == .none && result.image.pixelWidth == 200 && requestCount == requests + 1)
    }

    // MARK: Previews

    @Test func `A smaller image in memory is delivered first, as a preview`() async throws {
        let small = try await load(context(100))
        let results = try await results(context(300))
        let preview = try #require(results.first)
        #expect(results.count == 2 && !preview.isFinal && preview.cacheType == .memory)
        #expect(preview.image.bitmap.storage === small.image.bitmap.storage && preview.image.metadata.isIncremental)
        #expect(preview.cacheKey == key(100))
        #expect(results.last?.image.pixelWidth == 300 && results.last?.isFinal == true)
        #expect(cache.memoryImage(forKey: key(300))?.pixelWidth == 300)
        #expect(cache.memoryImage(forKey: key(100))?.metadata.isIncremental == false)
    }

    @Test func `A preview is delivered before the call returns`() async throws {
        _ = try await load(context(100))
        let outcome = Outcome()
        let operation = manager.loadImage(with: url, context: context()) { outcome.record($0) }
        #expect(outcome.count >= 1)
        #expect(try await outcome.value().get().isFinal == false)
        operation.cancel()
    }

    @Test func `A load that is cancelled by the preview's receiver starts no work`() async throws {
        _ = try await load(context(100))
        let requests = requestCount
        await cache.clear(.disk)
        let (held, outcome) = (Lock<WebImageLoadOperation?>(nil), Outcome())
        let isCalled = Counter()
        let operation = manager.loadImage(with: url, context: context(300)) { result in
            outcome.record(result)
            if isCalled.add() == 1 { manager.cancelAll() }
        }
        held.withLock { $0 = operation }
        let last = await outcome.values(2).last
        if case .failure(let error)? = last { #expect(error.code == .cancelled) } else { Issue.record("not cancelled") }
        #expect(requestCount == requests && outcome.count == 2)
    }

    @Test func `There is no preview if the exact image is in memory, and none by default`() async throws {
        _ = try await load(context(100))
        #expect(try await results(context(300, SizeReuse.none)).count == 1)
        #expect(try await results(context(300)).count == 1)
    }

    @Test func `An image that is too small for scaling, but not a preview of other transformers`() async throws {
        _ = try await load(context(100) { $0.imageTransformer = .transformer(BlurTransformer(radius: 2)) })
        #expect(try await results(context(300)).count == 1)
        let blurred = context(300) { $0.imageTransformer = .transformer(BlurTransformer(radius: 2)) }
        #expect(try await results(blurred).count == 2)
    }

    @Test func `The async functions return the final image`() async throws {
        _ = try await load(context(100))
        let result = try await load(context(300))
        #expect(result.isFinal && result.image.pixelWidth == 300)
    }

    @Test func `A cached image that has to be revalidated first is no preview`() async throws {
        let photo = [UInt8](try Fixtures.data("JPEG/photo.jpg"))
        let harness = try EndToEndHarness { _ in
            .response(headers: [("Cache-Control", "no-cache"), ("ETag", "\"1\"")], body: photo)
        }
        let url = harness.server.url("/c.jpg")
        let http: (inout WebImageContext) -> Void = { $0.cachePolicy = .http }
        _ = try await harness.manager.result(with: url, context: context(100, .memory, http))
        let outcome = Outcome()
        harness.manager.loadImage(with: url, context: context(300, .memory, http)) { outcome.record($0) }
        #expect(try await outcome.value().get().isFinal)
    }

    // MARK: Work and pixels

    @Test func `Work is shared with other loads unless there is something to reuse`() async throws {
        func plan(_ context: WebImageContext) -> Boxed<LoadPlan.Result> {
            let load = manager.resolve(url, [], context)
            let key = manager.originalKey(for: url, load)
            return manager.plan(
                url: url,
                originalKey: key,
                resultKey: key.map { manager.resultKey(for: $0, load) },
                load
            )
            .result
        }
        #expect(plan(context(100)) == plan(context(100, SizeReuse.none)))
        _ = try await load(context(300))
        #expect(plan(context(100)) != plan(context(100, SizeReuse.none)))
        #expect(plan(context(100)).value.decode == plan(context(100, SizeReuse.none)).value.decode)
        #expect(plan(context()) == plan(context(nil, SizeReuse.none)))
    }

    @Test func `Equal loads share the scaling, also of very many`() async throws {
        _ = try await load(context(480))
        let images = try await withThrowingTaskGroup(of: Image.self) { group in
            for _ in 0..<50 { group.addTask { try await load(context(200)).image } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(images.allSatisfy { $0.pixelWidth == 200 })
        #expect(await harness.pipeline.becomesIdle())
    }

    /// A decoder of JPEG scales by its own filter first: such a decode may itself be less than 45 dB from the image scaled down from full size, which
    /// is what counts then.
    @Test(
        arguments: TestEffort.some(of: [60.0, 96, 120, 160, 200, 240]),
        [nil, 480.0, 360, 300, 240, 200, 180, 160, 120, 100]
    )
    func `A scaled photo is within 45 dB of the photo scaled down from full size, and of a decoded one that is, too`(
        _ side: Double,
        _ large: Double?
    ) async throws {
        guard (large ?? 480) >= side * 1.5 else { return }
        _ = try await load(context(large))
        let decodes = decodeCount
        let scaled = try await load(context(side)).image
        #expect(decodeCount == decodes)
        let data = try Fixtures.data("JPEG/photo.jpg")
        var options = ImageDecodeOptions()
        let full = try ImageCodersManager.shared.decode(data, options: options)
        options.thumbnailPixelSize = ImageSize(width: side, height: side)
        let direct = try ImageCodersManager.shared.decode(data, options: options)
        let size = (width: direct.pixelWidth, height: direct.pixelHeight)
        let exact = try full.scaled(to: size, for: options)
        let found = psnr(scaled.bitmap, direct.bitmap)
        let toExact = psnr(scaled.bitmap, exact.bitmap)
        #expect(toExact >= 45, "\(toExact) dB")
        #expect(found >= 45 || psnr(direct.bitmap, exact.bitmap) < 45, "\(found) dB")
    }

    @Test(arguments: 1...8) func `Photos of all orientations are scaled upright, with any fit`(_ orientation: Int)
        async throws
    {
        let directory = TemporaryDirectory()
        let manager = WebImageManager(
            cache: ImageCache(directory: directory.path("cache")),
            loader: FileImageLoader.shared,
            pipeline: Pipeline()
        )
        let path = Fixtures.path("JPEG/orientation-\(orientation).jpg")
        let url = URL(fileURLWithPath: path)
        _ = try await manager.image(with: url, context: context())
        let decodes = manager.pipeline.totals.decodes.value
        for side in [8.0, 12, 20, 30] {
            for (preserves, covers) in [(true, false), (true, true), (false, false)] {
                let context = context(side) {
                    $0.preserveAspectRatio = preserves
                    $0.thumbnailCovers = covers
                }
                let image = try await manager.image(with: url, context: context)
                var options = ImageDecodeOptions(context, options: [], key: "")
                options.scaleFactor = 1
                let direct = try ImageCodersManager.shared.decode(
                    Fixtures.data("JPEG/orientation-\(orientation).jpg"),
                    options: options
                )
                #expect(image.pixelWidth == direct.pixelWidth && image.pixelHeight == direct.pixelHeight)
                #expect(psnr(image.bitmap, direct.bitmap) > 30, "\(side) \(preserves) \(covers)")
                #expect(image.metadata.isThumbnail == direct.metadata.isThumbnail)
            }
        }
        #expect(manager.pipeline.totals.decodes.value - decodes <= 4, "those that are nearly of full size")
    }
}
