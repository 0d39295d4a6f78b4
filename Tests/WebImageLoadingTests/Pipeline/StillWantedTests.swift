import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// A cache whose disk responds when the test lets it.
private final class SlowCache: ImageCaching {
    private final class Query: WebImageOperation {
        private let flag = Lock(false)
        func cancel() { flag.withLock { $0 = true } }
        var isCancelled: Bool { flag.withLock { $0 } }
    }

    let fake = FakeCache()
    private let waiting = Lock<[@Sendable () -> Void]>([])

    func answer() {
        let bodies = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for body in bodies { body() }
    }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        waiting.withLock { $0.append { [fake] in completion(fake.diskEntry(forKey: key)) } }
        return Query()
    }

    func memoryImage(forKey key: String) -> Image? { fake.memoryImage(forKey: key) }
    func diskEntry(forKey key: String) -> CachedImageData? { fake.diskEntry(forKey: key) }
    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        fake.store(request, completion: completion)
    }
    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        fake.removeImage(forKey: key, from: cacheType, completion: completion)
    }
    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        fake.containsImage(forKey: key, in: cacheType, completion: completion)
    }
    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        fake.clear(cacheType, completion: completion)
    }
}

/// A coder that waits at a gate before it decodes.
private final class GatedCoder: ImageCoder {
    let plain = PlainCoder()
    let gate = Gate()

    func canDecode(_ data: Data) -> Bool { true }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try plain.properties(of: data, limits: limits)
    }
    func canEncode(to format: ImageFormat) -> Bool { true }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        try plain.encode(image, to: format, options: options)
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        _ = gate.wait()
        return try plain.decode(data, options: options)
    }
}

/// A cancelled load does no further work, at whatever stage it is cancelled.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct StillWantedTests {
    private let url = URL(string: "http://host/picture.png")!
    private let queue = WorkQueue(name: "test", width: 1)

    private func manager(_ cache: any ImageCaching, _ loader: any ImageLoading) -> WebImageManager {
        WebImageManager(cache: cache, loader: loader, pipeline: Pipeline(decodeQueue: queue))
    }

    private func context(_ coder: any ImageCoder, _ transformer: FakeTransformer? = nil) -> WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        if let transformer { context.imageTransformer = .transformer(transformer) }
        return context
    }

    private func drain() async { try? await queue.run { () throws(WebImageError) in } }

    @Test func `Cancelled while its entry is read, a load does not decode`() async {
        for isDerived in [false, true] {
            let (cache, coder, outcome) = (SlowCache(), PlainCoder(), Outcome())
            let manager = manager(cache, FakeLoader { _ in .success("picture") })
            let context = context(coder, isDerived ? FakeTransformer("t") : nil)
            let key = manager.cacheKey(for: url, context: context)
            cache.fake.edit { $0.disk[key] = CachedImageData(data: Data("old".utf8)) }
            let load = manager.loadImage(with: url, context: context) { outcome.record($0) }
            load.cancel()
            cache.answer()
            await drain()
            #expect(await outcome.error()?.code == .cancelled)
            #expect(coder.decodes.isEmpty && cache.fake.memoryKeys.isEmpty)
        }
    }

    @Test func `Cancelled while it waits for the decoder, a load neither decodes nor stores`() async {
        let (cache, coder, gate) = (FakeCache(), PlainCoder(), Gate())
        let manager = manager(cache, FakeLoader { _ in .success("picture") })
        queue.submit { _ = gate.wait() }
        _ = await gate.arrivals()
        let load = manager.loadImage(with: url, context: context(coder)) { _ in }
        load.cancel()
        gate.open()
        await drain()
        #expect(coder.decodes.isEmpty && cache.diskKeys.isEmpty && cache.memoryKeys.isEmpty)
    }

    @Test func `Cancelled during its decode, a load neither transforms nor stores`() async {
        let (cache, coder, transformer) = (FakeCache(), GatedCoder(), FakeTransformer("t"))
        let manager = manager(cache, FakeLoader { _ in .success("picture") })
        let load = manager.loadImage(with: url, context: context(coder, transformer)) { _ in }
        _ = await coder.gate.arrivals()
        load.cancel()
        coder.gate.open()
        await drain()
        #expect(coder.plain.decodes.count == 1 && transformer.count == 0)
        #expect(cache.diskKeys.isEmpty && cache.memoryKeys.isEmpty)
    }

    @Test func `Cancelled while its stored entry is decoded, a load does not store it in memory`() async {
        let (cache, coder) = (FakeCache(), GatedCoder())
        let manager = manager(cache, FakeLoader { _ in .success("picture") })
        let context = context(coder, FakeTransformer("t"))
        let key = manager.cacheKey(for: url, context: context)
        cache.edit { $0.disk[key] = CachedImageData(data: Data("made".utf8)) }
        let load = manager.loadImage(with: url, context: context) { _ in }
        _ = await coder.gate.arrivals()
        load.cancel()
        coder.gate.open()
        await drain()
        #expect(coder.plain.decodes.count == 1 && cache.memoryKeys.isEmpty)
    }

    @Test func `When one of two is cancelled during the decode, the other gets its image, and it is stored`()
        async throws
    {
        let (cache, coder, outcome) = (FakeCache(), GatedCoder(), Outcome())
        let manager = manager(cache, FakeLoader { _ in .success("picture") })
        let loads = [manager.loadImage(with: url, context: context(coder)) { _ in }]
        manager.loadImage(with: url, options: .waitStoreCache, context: context(coder)) { outcome.record($0) }
        _ = await coder.gate.arrivals()
        for load in loads { load.cancel() }
        coder.gate.open()
        _ = try await outcome.image()
        #expect(coder.plain.decodes.count == 1 && cache.diskKeys.count == 1 && cache.memoryKeys.count == 1)
    }
}
