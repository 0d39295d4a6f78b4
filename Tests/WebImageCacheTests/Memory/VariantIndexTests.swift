import CacheTestSupport
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.threadSanitizer)) struct VariantIndexTests {
    private static let kind = ImageVariant.Kind(ImageDecodeOptions(), coder: PlainCoder(), transformerKey: "")

    private func variant(_ side: Int, of hash: UInt64 = 1, key: String? = nil) -> ImageVariant {
        ImageVariant(
            key: key ?? "k\(side)",
            size: (side, side),
            sourceSize: (1000, 1000),
            sourceHash: hash,
            kind: Self.kind
        )
    }

    private func index(_ variants: ImageVariant..., capacity: Int? = nil) -> Lock<VariantIndex> {
        let index = Lock(VariantIndex(capacity: capacity))
        for variant in variants { index.withLock { $0.add(variant, of: "o") } }
        return index
    }

    private func widths(_ index: Lock<VariantIndex>, of original: String = "o") -> [Int] {
        index.withLock { $0.variants(of: original).map(\.width) }
    }

    @Test func `Variants are in ascending order, one for each key`() {
        let index = index(variant(300), variant(100), variant(200), variant(250, key: "k100"))
        #expect(widths(index) == [200, 250, 300])
        index.withLock { $0.remove("k300", of: "o") }
        index.withLock { $0.remove("k300", of: "o") }
        #expect(widths(index) == [200, 250] && widths(index, of: "other") == [])
        index.withLock { $0.remove("k200", of: "o") }
        index.withLock { $0.remove("k100", of: "o") }
        #expect(index.withLock { $0.count } == 0)
    }

    @Test func `Variants of other bytes are forgotten`() {
        let index = index(variant(300), variant(200), variant(100, of: 2))
        #expect(widths(index) == [100])
    }

    @Test func `The smallest of too many variants is forgotten, but not the one just added`() {
        let index = index()
        for side in 1...20 { index.withLock { $0.add(variant(side * 10), of: "o") } }
        #expect(widths(index) == (5...20).map { $0 * 10 })
        index.withLock { $0.add(variant(1), of: "o") }
        #expect(widths(index) == [1] + (6...20).map { $0 * 10 })
    }

    @Test func `The least recently used original is forgotten first`() {
        let index = Lock(VariantIndex(capacity: 3))
        for original in ["a", "b", "c"] { index.withLock { $0.add(variant(1), of: original) } }
        #expect(widths(index, of: "a") == [1])
        index.withLock { $0.add(variant(1), of: "d") }
        #expect(["a", "b", "c", "d"].map { widths(index, of: $0).count } == [1, 0, 1, 1])
        index.withLock { $0.removeAll(of: "a") }
        index.withLock { $0.add(variant(2), of: "e") }
        #expect(["a", "c", "d", "e"].map { widths(index, of: $0).count } == [0, 1, 1, 1])
        index.withLock { $0.removeAll() }
        #expect(index.withLock { $0.count } == 0)
    }

    // MARK: With a cache

    private func image(_ side: Int, of hash: UInt64 = 1) throws -> Image {
        var metadata = ImageMetadata()
        metadata.sourceHash = hash
        return Image(bitmap: try .allocate(width: side, height: side, pixelFormat: .rgb8), metadata: metadata)
    }

    @Test func `An image that left memory is not found, and forgotten`() throws {
        let cache = FakeDisk().cache(coder: nil)
        cache.note(variant(30), of: "o")
        cache.note(variant(40), of: "o")
        cache.storeToMemory(try image(30), forKey: "k30")
        #expect(cache.image(of: variant(30), of: "o")?.pixelWidth == 30)
        #expect(cache.image(of: variant(40), of: "o") == nil)
        #expect(cache.variants(of: "o").map(\.width) == [30])
    }

    @Test func `Another image under the key is not the variant`() throws {
        let cache = FakeDisk().cache(coder: nil)
        cache.note(variant(30), of: "o")
        cache.storeToMemory(try image(30, of: 2), forKey: "k30")
        #expect(cache.image(of: variant(30), of: "o") == nil)
        cache.note(variant(30), of: "o")
        cache.storeToMemory(try image(31), forKey: "k30")
        #expect(cache.image(of: variant(30), of: "o") == nil)
    }

    @Test func `Removing the original, or everything, forgets the variants`() async throws {
        let cache = FakeDisk().cache(coder: nil)
        for remove in [
            { cache.removeImageFromMemory(forKey: "o") },
            { cache.removeImage(forKey: "o", from: .all, completion: nil) },
            { cache.clear(.memory, completion: nil) },
        ] as [@Sendable () -> Void] {
            cache.note(variant(30), of: "o")
            #expect(cache.variants(of: "o").count == 1)
            remove()
            #expect(cache.variants(of: "o").isEmpty)
        }
    }

    @Test func `Images with the keys of large data URLs are not noted`() {
        let cache = FakeDisk().cache(coder: nil)
        let long = String(repeating: "a", count: 10_000)
        cache.note(variant(30), of: "data:" + long)
        cache.note(variant(30, key: long), of: "o")
        #expect(cache.variants(of: "data:" + long).isEmpty && cache.variants(of: "o").isEmpty)
        let short = "https://host.test/" + String(repeating: "a", count: 2000)
        cache.note(variant(30, key: short + "-Thumbnail"), of: short)
        #expect(cache.variants(of: short).count == 1)
    }

    /// A coder of a program that uses the cache when it ends.
    private final class CacheUser: ImageCoder {
        private let coder = PlainCoder()
        private let ended: @Sendable () -> Void

        init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

        deinit { ended() }

        func canDecode(_ data: Data) -> Bool { true }
        func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
            try coder.properties(of: data, limits: limits)
        }
        func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
            try coder.decode(data, options: options)
        }
        func canEncode(to format: ImageFormat) -> Bool { false }
        func encode(
            _ image: Image,
            to format: ImageFormat,
            options: ImageEncodeOptions
        ) throws(WebImageError) -> Data { Data() }
    }

    @Test func `Coders that use the cache when they end are released without a lock`() throws {
        let cache = FakeDisk().cache(coder: nil)
        let ends = Lock(0)
        func note(_ side: Int, of original: String = "o", hash: UInt64 = 1) -> ImageVariant {
            let coder = CacheUser { [weak cache] in
                // To wait for the lock here would be for ever.
                cache?.variants.withLockIfFree { _ in ends.withLock { $0 += 1 } }
            }
            let variant = ImageVariant(
                key: "k\(side)",
                size: (side, side),
                sourceSize: (1000, 1000),
                sourceHash: hash,
                kind: ImageVariant.Kind(ImageDecodeOptions(), coder: coder, transformerKey: "")
            )
            cache.note(variant, of: original)
            return ImageVariant(
                key: variant.key,
                size: (side, side),
                sourceSize: (1000, 1000),
                sourceHash: hash,
                kind: Self.kind
            )
        }
        // The latest kind is kept, too.
        let first = note(30)
        _ = note(40)
        #expect(cache.image(of: first, of: "o") == nil && ends.withLock { $0 } == 1)
        _ = note(40)
        #expect(ends.withLock { $0 } == 2)
        _ = note(50, hash: 2)
        #expect(ends.withLock { $0 } == 3)
        cache.removeImageFromMemory(forKey: "o")
        cache.clear(.memory, completion: nil)
        #expect(ends.withLock { $0 } == 4)
    }

    @Test func `Looking at a large image for a small one does not keep it in memory`() throws {
        let cache = FakeDisk().cache(coder: nil) { $0.maxMemoryCount = 2 }
        cache.note(variant(90), of: "o")
        cache.storeToMemory(try image(90), forKey: "k90")
        cache.storeToMemory(try image(1), forKey: "used")
        for _ in 0..<100 { #expect(cache.image(of: variant(90), of: "o") != nil) }
        cache.storeToMemory(try image(1), forKey: "new")
        #expect(cache.memoryImage(forKey: "k90") == nil && cache.memoryImage(forKey: "used") != nil)
    }
}
