import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Which stills of videos are stored, what counts while a video waits, and when it is no longer read.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2))) struct VideoStillTests {
    private let harness = ManagerHarness(undecodedByteLimit: 1)
    private let coder = StillCoder()
    private let url = URL(string: "film://host/a.mp4")!

    private func context(
        _ film: Film = Film(),
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) -> WebImageContext {
        harness.context {
            $0.imageCoder = coder
            $0.imageLoader = ClosureImageLoader(canLoad: { url, _ in url.scheme == "film" }) { _, _ in
                LoadedImageData(byteSource: film)
            }
            change(&$0)
        }
    }

    private func load(
        _ options: WebImageOptions = .waitStoreCache,
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) async throws -> WebImageResult {
        let context = context(Film(), change)
        return try await harness.manager.result(with: url, options: options.union(.waitStoreCache), context: context)
    }

    private var key: String { url.absoluteString }
    private func forgetMemory() { harness.cache.edit { $0.memory = [:] } }

    // MARK: Storing

    @Test func `A still is stored in place of the video`() async throws {
        #expect(try await load().cacheType == .none && harness.cache.diskKeys == [key])
        forgetMemory()
        #expect(try await load().cacheType == .disk && coder.stillCount == 1)
    }

    @Test func `A damaged still is shown and kept in memory, but not stored on disk`() async throws {
        coder.change { $0.isDamaged = true }
        for type in [ImageCacheType.disk, .none] {
            let result = try await load { $0.originalStoreCacheType = type }
            #expect(result.image.metadata.isDamaged && result.cacheType == .none)
            #expect(harness.cache.memoryKeys == [key] && harness.cache.diskKeys.isEmpty)
            forgetMemory()
        }
        // The next load may be luckier.
        coder.change { _ in }
        #expect(try await !load().image.metadata.isDamaged && harness.cache.diskKeys == [key])
    }

    @Test func `A prefetch does not store a damaged still`() async throws {
        coder.change { $0.isDamaged = true }
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        _ = await prefetcher.prefetchAll([url], target: .disk, context: context())
        #expect(coder.stillCount == 1 && harness.cache.diskKeys.isEmpty)
    }

    @Test func `High dynamic range is neither read from a stored still nor stored as one`() async throws {
        _ = try await load()
        forgetMemory()
        let stores = harness.cache.edit { $0.stores.count }
        let result = try await load { $0.decodeToHDR = true }
        #expect(result.cacheType == .none && coder.stillCount == 2)
        let later = harness.cache.edit { $0.stores.dropFirst(stores) }
        #expect(later.allSatisfy { !$0.type.includesDisk } && !later.isEmpty)
        // The still on disk serves the other loads.
        forgetMemory()
        #expect(try await load().cacheType == .disk && coder.stillCount == 2)
        forgetMemory()
        await #expect(throws: WebImageError.self) { try await load(.fromCacheOnly) { $0.decodeToHDR = true } }
    }

    @Test(arguments: [ImageCacheType.disk, .none])
    func `No still of a video in high dynamic range is stored if its URL does not say that it is a video`(
        type: ImageCacheType
    ) async throws {
        let (address, data) = (try #require(URL(string: "film://host/watch?v=1")), Film().beginning)
        func load(keepsRange: Bool) async throws -> WebImageResult {
            forgetMemory()
            let context = harness.context {
                $0.imageCoder = coder
                $0.imageLoader = ClosureImageLoader(canLoad: { _, _ in true }) { _, _ in LoadedImageData(data: data) }
                $0.decodeToHDR = keepsRange
                $0.originalStoreCacheType = type
            }
            return try await harness.manager.result(with: address, options: .waitStoreCache, context: context)
        }
        coder.isHighDynamicRange.withLock { $0 = true }
        for keepsRange in [false, true] {
            #expect(try await load(keepsRange: keepsRange).cacheType == .none && harness.cache.diskKeys.isEmpty)
        }
        coder.isHighDynamicRange.withLock { $0 = false }
        #expect(try await load(keepsRange: false).cacheType == .none)
        #expect(harness.cache.diskKeys == [address.absoluteString])
        #expect(try await load(keepsRange: true).cacheType == .disk)
    }

    @Test(arguments: [ImageCacheType.disk, .none])
    func `A reduced still is not stored under the key of the whole one`(type: ImageCacheType) async throws {
        coder.change { $0.scaleDownLimitBytes = 100 }
        _ = try await load {
            $0.scaleDownLimitBytes = 100
            $0.originalStoreCacheType = type
        }
        #expect(coder.stillCount == 1 && harness.cache.diskKeys.isEmpty)
        coder.change { _ in }
        forgetMemory()
        _ = try await load { $0.originalStoreCacheType = type }
        #expect(harness.cache.diskKeys == [key])
    }

    @Test(arguments: [ImageCacheType.disk, .none])
    func `The still of the former video is removed, whether a new one is stored or not`(type: ImageCacheType)
        async throws
    {
        for isDamaged in [true, false] {
            harness.cache.edit { $0.disk[key] = CachedImageData(data: Data("old".utf8)) }
            coder.change { $0.isDamaged = isDamaged }
            let result = try await load(.refreshCached) { $0.originalStoreCacheType = type }
            #expect(result.image.metadata.isDamaged == isDamaged && result.cacheType == .none)
            let stored = harness.cache.edit { $0.disk[key]?.data }
            #expect(isDamaged ? stored == nil : stored != Data("old".utf8))
            forgetMemory()
        }
    }

    // MARK: Waiting

    @Test func `A video that waits for its decode counts like a body, until it is decoded`() async throws {
        coder.gate.withLock { $0 = Gate() }
        let gate = try #require(coder.gate.withLock { $0 })
        let first = harness.start(url, context: context()).outcome
        #expect(await gate.arrivals())
        #expect(harness.manager.pipeline.gate.reservedByteCount == Film.heldByteCount)
        let other = harness.start(URL(string: "http://host/second.png"))
        #expect(harness.manager.pipeline.gate.waitingCount == 1 && harness.loader.loads.isEmpty)
        gate.open()
        _ = try await first.image()
        await harness.loader.waitForLoads(1)[0].succeed()
        _ = try await other.outcome.image()
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `The part that a cancelled load waits for is no longer wanted, and its thread is free`() async throws {
        let film = Film(isSlow: true)
        let load = harness.start(url, context: context(film))
        #expect(await film.isReading.opens())
        load.operation.cancel()
        #expect(await film.hasEnded.opens())
        #expect(await load.outcome.error()?.code == .cancelled)
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `So is the part that a cancelled prefetch waits for`() async throws {
        let film = Film(isSlow: true)
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let context = context(film)
        let task = Task { await prefetcher.prefetchAll([url], target: .disk, context: context) }
        #expect(await film.isReading.opens())
        task.cancel()
        #expect(await film.hasEnded.opens())
        _ = await task.value
    }
}

/// A file that begins like a video. If it is slow, each read takes until nobody wants it.
private final class Film: ImageByteSource {
    static let heldByteCount = 1000
    let beginning = Data([0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 0])
    let isReading = Latch()
    let hasEnded = Latch()
    private let isSlow: Bool

    init(isSlow: Bool = false) { self.isSlow = isSlow }

    var byteCount: Int { beginning.count }
    var heldByteCount: Int { Self.heldByteCount }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int {
        try read(at: offset, into: buffer, while: { true })
    }

    func read(
        at offset: Int,
        into buffer: UnsafeMutableRawBufferPointer,
        while isWanted: () -> Bool
    ) throws(WebImageError) -> Int {
        isReading.open()
        guard isSlow else { return buffer.isEmpty ? 0 : 1 }
        while isWanted() { _ = hasEnded.wait(seconds: 0.01) }
        hasEnded.open()
        throw .cancelled()
    }
}

/// Reads a byte of a video and "decodes" it to an image with metadata that the test sets.
private final class StillCoder: ByteSourceCoder {
    let gate = Lock<Gate?>(nil)
    let isHighDynamicRange = Lock(false)
    private let base = PlainCoder()
    private let state = Lock<(change: @Sendable (inout ImageMetadata) -> Void, count: Int)>(({ _ in }, 0))

    var stillCount: Int { state.withLock { $0.count } }

    func change(_ change: @escaping @Sendable (inout ImageMetadata) -> Void) { state.withLock { $0.change = change } }

    func canDecode(_ data: Data) -> Bool { true }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        var properties = try base.properties(of: data, limits: limits)
        properties.isHighDynamicRange = isHighDynamicRange.withLock { $0 }
        return properties
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try base.decode(data, options: options)
    }

    func properties(of source: any ImageByteSource, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try base.properties(of: source.beginning, limits: limits)
    }

    func memoryNeed(of source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError)
        -> DecodeMemoryNeed
    {
        try base.memoryNeed(of: source.beginning, options: options)
    }

    func decode(_ source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        gate.withLock { $0 }?.wait()
        _ = try source.read(at: 0, count: 1)
        let image = try base.decode(source.beginning, options: options)
        var metadata = image.metadata
        state.withLock { state in
            state.count += 1
            state.change(&metadata)
        }
        return image.with(metadata: metadata)
    }

    func canEncode(to format: ImageFormat) -> Bool { base.canEncode(to: format) }

    func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data { try base.encode(image, to: format, options: options) }
}
