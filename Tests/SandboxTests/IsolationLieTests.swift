import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageIsolation

/// Compromised workers with forged answers.
@Suite(
    .enabled(if: IsolationHarness.isSupported, "this system does not confine processes, or this is a sanitized build"),
    .timeLimit(.minutes(3))
)
struct IsolationLieTests {
    @Test(arguments: [
        ("garbage", "invalid reply"), ("long", "too long"), ("nothing", "memory"),
        ("changeable", "can still be changed"),
        ("small", "64 bytes"), ("rows", "rows are"), ("offset", "the offset is"), ("narrow", "rows are 4"),
        ("huge", "bigger than"), ("side", "width is 0"), ("socket fd", "memory"), ("other", "another request"),
        ("kind", "another request"), ("elsewhere", "64 bytes"), ("endless", "too long"), ("far", "the offset is"),
        ("wide", "70000x1 is bigger"), ("frames", "10001 frames"), ("crash", "stopped: it called ????"),
        ("empty with memory", "crashed"), ("heavy", "not 64"), ("announced heavy", "not 64"),
        ("announced nothing", "announces no memory"), ("announced changeable", "can still be changed"),
        ("announced huge", "bigger than"), ("announced small", "64 bytes"),
        ("announced socket", "can still be changed"), ("announced twice", "unknown answer"),
        ("empty", "crashed"), ("deaf", "crashed"),
    ])
    func `A forged answer is an error only for its image`(name: String, message: String) async throws {
        let coder = IsolationHarness.coder { ($0.maximumDecodeCount, $0.maximumWorkerCount) = (1, 1) }
        let error = try #require(await IsolationHarness.error(name, coder))
        #expect(error.code == .decoderCrashed, "\(error)")
        #expect(error.message.contains(message), "\(error)")
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 })
        #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", coder).get()))
    }

    private static let sizes: [(width: Double, height: Double, keepsShape: Bool, covers: Bool, isLie: Bool)] = [
        (4, 4, true, false, false), (3, 4, true, false, true), (4, 3, false, false, true),
        (3.5, 3.5, true, false, false),
        (3, 3, true, true, true), (3, 4, true, true, false), (4, 3, true, true, false), (3, 4, false, true, true),
    ]

    @Test(arguments: sizes)
    func `An image or a frame bigger than the box is refused`(
        size: (width: Double, height: Double, keepsShape: Bool, covers: Bool, isLie: Bool)
    ) async throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: size.width, height: size.height)
        (options.preserveAspectRatio, options.thumbnailCovers) = (size.keepsShape, size.covers)
        for result in await Self.answers("picture", options) {
            guard size.isLie else {
                #expect(IsolationHarness.isRight(try result.get()))
                continue
            }
            let error = #expect(throws: WebImageError.self) { try result.get() }
            #expect(error?.code == .decoderCrashed && error?.message.contains("4x4 is bigger") == true)
        }
    }

    @Test(arguments: [(60, true), (64, false)])
    func `An image or a frame with more bytes than were left for it is refused`(limit: Int, isLie: Bool) async throws {
        var options = ImageDecodeOptions()
        options.scaleDownLimitBytes = limit
        for result in await Self.answers("picture", options) {
            let error = isLie ? #expect(throws: WebImageError.self) { try result.get() } : nil
            #expect(isLie ? error?.message.contains("more bytes") == true : IsolationHarness.isRight(try result.get()))
        }
    }

    @Test func `Memory bigger than the image may be, or without an image, is refused`() async throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 4, height: 4)
        for result in await Self.answers("announced beyond", options).prefix(1) {
            let error = #expect(throws: WebImageError.self) { try result.get() }
            #expect(error?.message.contains("announces an image that is bigger") == true)
        }
        let coder = IsolationHarness.coder()
        let header = await valueOnThread {
            Result { try coder.properties(of: IsolationHarness.picture("header announced"), limits: ImageLimits()) }
        }
        let error = #expect(throws: WebImageError.self) { try header.get() }
        #expect(error?.code == .decoderCrashed && error?.message.contains("announces an image") == true)
    }

    @Test func `An image bigger than its worker's estimate gets no memory from a budget`() async throws {
        let budget = DecodedMemoryBudget(byteLimit: 1 << 20)
        let decode: @Sendable (String) async -> Result<Image, any Error> = { name in
            await valueOnThread {
                Result {
                    let (coder, options) = (IsolationHarness.coder(), ImageDecodeOptions())
                    let data = IsolationHarness.picture(name)
                    return try budget.perform(.decode(data, coder, options)) { (given) throws(WebImageError) in
                        try coder.completeImage(of: data, options: given ?? options)
                    }
                }
            }
        }
        #expect(IsolationHarness.isRight(try await decode("picture").get()))
        let answer = await decode("needs nothing")
        let error = #expect(throws: WebImageError.self) { try answer.get() }
        #expect(error?.code == .decoderCrashed && error?.message.contains("takes 64 bytes, not 0") == true)
    }

    @Test(arguments: ["picture", "needs nothing"])
    func `An image from a cache takes no more than its worker's estimate either`(name: String) async throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let budget = DecodedMemoryBudget(byteLimit: 1 << 20)
        let manager = WebImageManager(cache: cache, loader: ImageLoadersManager.shared, memoryBudget: budget)
        let coder = IsolationHarness.coder()
        var context = WebImageContext()
        (context.imageCoder, context.callbackQueue) = (coder, .inline)
        let isRight = name == "picture"
        await cache.store(nil, data: IsolationHarness.picture(name), forKey: "a", to: .disk)
        let waiting = await cache.queryImage(forKey: "a", context: context)
        #expect(isRight ? IsolationHarness.isRight(waiting.image) : waiting.image == nil && waiting.data != nil)
        cache.memoryCache.removeAll()
        let (immediate, plain) = (
            await valueOnThread { [context] in cache.imageFromDisk(forKey: "a", context: context) }, context
        )
        #expect(isRight ? IsolationHarness.isRight(immediate) : immediate == nil)
        #expect((cache.imageFromMemory(forKey: "a") == nil) != isRight)

        // An image transformed before it was stored.
        let url = try #require(URL(string: "https://example.com/a.png"))
        let flip = FlippingTransformer(horizontal: true, vertical: false)
        let key = CacheKeys.transformed(url.absoluteString, by: flip.transformerKey)
        await cache.store(nil, data: IsolationHarness.picture(name), forKey: key, to: .disk)
        var transforming = plain
        transforming.imageTransformer = .transformer(flip)
        let result = try? await manager.result(with: url, options: .fromCacheOnly, context: transforming)
        #expect(isRight ? IsolationHarness.isRight(result?.image) : result == nil)
        cache.memoryCache.removeAll()
        let ends = Monitor<[Image?]>([])
        await valueOnThread { [transforming] in
            _ = manager.loadImage(with: url, options: [.fromCacheOnly, .queryDiskDataSync], context: transforming) {
                result in
                ends.withLock { $0.append(try? result.get().image) }
            }
        }
        let end = await valueOnThread { ends.wait { $0.first } }
        #expect(end.map { IsolationHarness.isRight($0) } == isRight)
        #expect(budget.usage.inFlightByteCount == 0)
    }

    /// The image, and a frame.
    private static func answers(_ name: String, _ options: ImageDecodeOptions) async -> [Result<Image, any Error>] {
        let coder = IsolationHarness.coder()
        let data = IsolationHarness.picture(name)
        return await valueOnThread {
            [
                Result { try coder.decode(data, options: options) },
                Result { try coder.animation(of: data, options: options).frame(at: 0) },
            ]
        }
    }

    @Test func `An unrequested answer is not taken for that of the next image`() async throws {
        // The forged answer concerns the first request: no other test has used these workers.
        let coder = IsolationHarness.coder { ($0.maximumWorkerCount, $0.maximumDecodeCount) = (1, 400) }
        let first = try await IsolationHarness.decode("twice", coder).get()
        #expect(first.pixelWidth == 4 && !IsolationHarness.isRight(first))
        for _ in 0..<3 { #expect(IsolationHarness.isRight(try await IsolationHarness.decode("picture", coder).get())) }
    }

    @Test func `No forged answer leaks a descriptor`() async throws {
        await #expect(processExitsWith: .success) {
            let isolation = IsolationHarness.isolation { ($0.maximumWorkerCount, $0.maximumDecodeCount) = (1, 1) }
            let clock = ManualClock()
            let pool = WorkerPool(isolation, .sealed, clock: clock.source, delay: ManualClock().delays)
            let tell: @Sendable (String) async -> Void = { name in
                _ = await valueOnThread {
                    try? pool.perform(.decode(ImageDecodeOptions()), .data(IsolationHarness.picture(name)), seconds: 20)
                }
            }
            await tell("garbage")
            let before = IsolationHarness.descriptorCount
            let names = [
                "changeable", "small", "socket fd", "other", "elsewhere", "huge", "garbage", "long", "crash", "heavy",
                "empty with memory", "endless", "far", "announced heavy", "announced nothing", "announced changeable",
                "announced huge",
                "announced socket", "announced twice",
            ]
            for name in names {
                for _ in 0..<4 { await tell(name) }
                #expect(IsolationHarness.descriptorCount < before + 4, "\(name)")
            }
        }
    }
}
