import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading
@testable import WebImagePlayer
@testable import WebImageSupport

/// Loads of a manager with a budget.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct MemoryBudgetLoadTests {
    private struct World {
        let directory = TemporaryDirectory()
        let cache: ImageCache
        let budget: DecodedMemoryBudget
        let manager: WebImageManager

        init(_ byteLimit: Int, _ policy: DecodedMemoryBudget.Policy) throws {
            cache = ImageCache(directory: directory.path)
            budget = DecodedMemoryBudget(byteLimit: byteLimit, policy: policy)
            manager = WebImageManager(cache: cache, loader: ImageLoadersManager.shared, memoryBudget: budget)
        }

        func url(_ data: Data, name: String) throws -> URL {
            let path = directory.path + "/" + name
            try data.write(to: URL(fileURLWithPath: path))
            return URL(fileURLWithPath: path)
        }
    }

    /// A grey image with this number of pixels; decoding it takes three bytes for each.
    private func picture(_ side: Int) -> Data { Data(PNGBomb.make(width: side, height: side)) }

    @Test func `An image that does not fit is scaled down and marked, and a later load gets all of it`() async throws {
        let world = try World(1 << 20, .shrink)
        let url = try world.url(picture(1000), name: "a.png")
        let small = try await world.manager.result(with: url).image
        #expect(small.pixelWidth < 700 && small.pixelWidth > 100)
        #expect(small.metadata.sourceWidth == 1000 && small.metadata.scaleDownLimitBytes > 0)
        #expect(small.metadata.scaleDownLimitBytes <= 1 << 20)
        world.budget.byteLimit = 16 << 20
        let whole = try await world.manager.result(with: url).image
        #expect(whole.pixelWidth == 1000 && whole.metadata.scaleDownLimitBytes == 0)
    }

    @Test func `If the policy refuses it there is a typed error, and the URL can be tried again`() async throws {
        let world = try World(1 << 20, .reject)
        let url = try world.url(picture(1000), name: "a.png")
        let error = await #expect(throws: WebImageError.self) { _ = try await world.manager.image(with: url) }
        #expect(error?.limit?.name == "memoryBudget" && error?.url == url && (error?.limit?.required ?? 0) > 3_000_000)
        #expect(!world.manager.isFailed(url))
        world.budget.byteLimit = 16 << 20
        let whole = try await world.manager.image(with: url)
        #expect(whole.pixelWidth == 1000)
    }

    @Test func `Fifty concurrent images stay within the budget, and all arrive`() async throws {
        let world = try World(12 << 20, .reject)
        world.budget.patience = 20
        let urls = try (0..<50).map { try world.url(picture(900 + $0), name: "\($0).png") }
        let manager = world.manager
        let widths = await withTaskGroup(of: Int.self) { group in
            for url in urls { group.addTask { (try? await manager.image(with: url).pixelWidth) ?? 0 } }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(widths.sorted() == (900..<950).map(\.self))
        #expect(world.budget.usage.peakByteCount <= 12 << 20)
        #expect(world.budget.usage.heldByteCount > 0)
    }

    @Test func `Images in memory are evicted for new ones, and memory hits need no reservation`() async throws {
        let world = try World(5 << 20, .reject)
        // The thread that delivered an image releases it a moment later.
        world.budget.patience = 20
        let first = try world.url(picture(900), name: "a.png")
        let second = try world.url(picture(1000), name: "b.png")
        _ = try await world.manager.image(with: first)
        _ = try await world.manager.image(with: second)
        #expect(world.cache.memoryImage(forKey: first.absoluteString) == nil)
        #expect(world.cache.memoryImage(forKey: second.absoluteString) != nil)
        let again = try await world.manager.result(with: second)
        #expect(again.cacheType == .memory && world.budget.usage.peakByteCount <= 5 << 20)
    }

    @Test(arguments: [false, true])
    func `Images that nobody retains make space for each other without patience`(isTransformed: Bool) async throws {
        // One of them at a time, with its derived image.
        let world = try World(isTransformed ? 10 << 20 : 4 << 20, .reject)
        var context = WebImageContext()
        context.callbackQueue = .inline
        // Its encoded form for the disk is kept for that.
        context.storeCacheType = .memory
        if isTransformed {
            context.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
        }
        let ends = Monitor<[Int]>([])
        let urls = try (0..<20).map { try world.url(picture(900 + $0), name: "\($0).png") }
        for url in urls {
            world.manager.loadImage(with: url, context: context) { result in
                ends.withLock { $0.append((try? result.get().image.pixelWidth) ?? 0) }
            }
        }
        let widths = await ends.value { $0.count == 20 ? $0.sorted() : nil }
        #expect(widths == (900..<920).map(\.self))
        #expect(world.budget.usage.peakByteCount <= world.budget.byteLimit)
    }

    @Test func `An image is scaled down if there is no memory for its derived image`() async throws {
        let world = try World(5 << 20, .shrink)
        let url = try world.url(picture(1000), name: "a.png")
        var context = WebImageContext()
        context.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
        let image = try await world.manager.result(with: url, context: context).image
        #expect(image.metadata.isTransformed && image.pixelWidth < 1000 && image.pixelWidth > 300)
        #expect(world.budget.usage.peakByteCount <= 5 << 20)
    }

    @Test func `Transformed images count, too`() async throws {
        let world = try World(64 << 20, .reject)
        let url = try world.url(picture(600), name: "a.png")
        var context = WebImageContext()
        context.imageTransformer = .transformer(
            ResizingTransformer(size: ImageSize(width: 1000, height: 1000), scaleMode: .fill)
        )
        context.storeCacheType = ImageCacheType.none
        let result = try await world.manager.result(with: url, context: context)
        #expect(result.image.metadata.isTransformed)
        #expect(world.budget.usage.heldByteCount >= 1000 * 1000 * 3)
    }

    @Test(arguments: ImageScaleMode.allCases)
    func `Enlarging an image stays within the budget, or is refused with the name of the limit`(
        mode: ImageScaleMode
    ) async throws {
        var context = WebImageContext()
        context.imageTransformer = .transformer(
            ResizingTransformer(size: ImageSize(width: 3000, height: 2000), scaleMode: mode)
        )
        context.storeCacheType = ImageCacheType.none
        let small = try World(16 << 20, .reject)
        let url = try small.url(picture(300), name: "a.png")
        let error = await #expect(throws: WebImageError.self) {
            try await small.manager.result(with: url, context: context)
        }
        #expect(error?.limit?.name == "memoryBudget" && (error?.limit?.required ?? 0) > 18_000_000)
        #expect(small.budget.usage.peakByteCount <= 16 << 20)
        let big = try World(96 << 20, .reject)
        let image = try await big.manager.result(with: url, context: context).image
        #expect(image.pixelWidth == 3000 && image.pixelHeight == 2000)
        #expect(big.budget.usage.peakByteCount > 18_000_000 && big.budget.usage.peakByteCount <= 96 << 20)
    }

    @Test func `Each step of a chain has a reservation, also when it enlarges the image`() async throws {
        var context = WebImageContext()
        let grow = ResizingTransformer(size: ImageSize(width: 1500, height: 1500), scaleMode: .fill)
        let shrink = ResizingTransformer(size: ImageSize(width: 30, height: 30), scaleMode: .fill)
        let flip = FlippingTransformer(horizontal: true, vertical: false)
        context.imageTransformer = .transformer(PipelineTransformer([flip, grow, shrink]))
        context.storeCacheType = ImageCacheType.none
        let world = try World(12 << 20, .reject)
        let url = try world.url(picture(300), name: "a.png")
        let image = try await world.manager.result(with: url, context: context).image
        #expect(image.pixelWidth == 30 && world.budget.usage.peakByteCount > 1500 * 1500 * 3)
        #expect(world.budget.usage.peakByteCount <= 12 << 20)
        world.budget.byteLimit = 6 << 20
        world.cache.memoryCache.removeAll()
        await #expect(throws: WebImageError.self) { try await world.manager.result(with: url, context: context) }
        #expect(world.budget.usage.inFlightByteCount == 0)
    }

    @Test(arguments: [false, true])
    func `Images derived synchronously from disk or memory hits need a reservation`(isInMemory: Bool) async throws {
        let world = try World(16 << 20, .reject)
        let url = try world.url(picture(300), name: "a.png")
        _ = try await world.manager.image(with: url)
        if !isInMemory { world.cache.memoryCache.removeAll() }
        var context = WebImageContext()
        context.imageTransformer = .transformer(
            ResizingTransformer(size: ImageSize(width: 3000, height: 2000), scaleMode: .fill)
        )
        context.originalQueryCacheType = isInMemory ? .memory : .disk
        context.storeCacheType = ImageCacheType.none
        context.callbackQueue = .inline
        let ends = Monitor<[Result<WebImageResult, WebImageError>]>([])
        world.manager.loadImage(
            with: url,
            options: isInMemory ? [] : [.queryDiskDataSync],
            context: context
        ) { result in ends.withLock { $0.append(result) } }
        let end = await ends.value { $0.first }
        guard case .failure(let error) = end else {
            Issue.record("it is made without room")
            return
        }
        #expect(error.limit?.name == "memoryBudget")
        #expect(world.budget.usage.peakByteCount <= 16 << 20)
    }

    @Test func `Queries of the manager's cache decode within the budget, waiting or not`() async throws {
        let world = try World(1 << 20, .reject)
        await world.cache.store(nil, data: picture(1000), forKey: "a", to: .disk)
        let result = await world.cache.queryImage(forKey: "a")
        #expect(result.image == nil && result.data != nil)
        #expect(world.cache.imageFromDisk(forKey: "a") == nil)
        world.budget.byteLimit = 16 << 20
        let image = await world.cache.queryImage(forKey: "a").image
        #expect(image?.pixelWidth == 1000 && world.budget.usage.heldByteCount >= 3_000_000)
        world.budget.policy = .shrink
        world.budget.byteLimit = 2 << 20
        world.cache.memoryCache.removeAll()
        withExtendedLifetime(image) {}
    }

    @Test func `Managers with one budget share their work, and the budget is released with them`() throws {
        let budget = DecodedMemoryBudget(byteLimit: 1 << 20)
        var first: WebImageManager? = WebImageManager(memoryBudget: budget)
        let second = WebImageManager(memoryBudget: budget)
        #expect(first?.pipeline === second.pipeline && second.memoryBudget === budget)
        #expect(second.pipeline !== Pipeline.shared)
        first = nil
        #expect(budget.pipeline === second.pipeline && first == nil)
    }

    @Test func `Frames of running animations count, and those that do not fit are skipped`() throws {
        let budget = DecodedMemoryBudget(byteLimit: 64 << 20, policy: .reject)
        let animation = try AnimatedImage(data: Fixtures.data("GIF/animated.gif"))
        let queue = WorkQueue(stepped: "test")
        let lane = AnimationLane(animation, queue: queue)
        let pool = AnimationFramePool(animation, lane: lane, budget: budget)
        pool.wish(1, for: [0, 1], isWaiting: true, byteLimit: 1 << 20)
        queue.runAll()
        #expect(pool.count == 2 && budget.usage.heldByteCount >= 2 * animation.image.pixelByteCount)
        budget.byteLimit = 1
        pool.wish(1, for: [2, 3], isWaiting: true, byteLimit: 1 << 20)
        queue.runAll()
        if case .there = pool.use(2) { Issue.record("there was no memory") }
        #expect(budget.usage.inFlightByteCount == 0)
    }
}
