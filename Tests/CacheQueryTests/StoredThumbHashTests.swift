import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

/// The ThumbHash that a load stores with an entry.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct StoredThumbHashTests {
    private static let images = [
        "JPEG/photo.jpg", "PNG/photo-rgb.png", "WebP/lossy.webp", "GIF/photo.gif", "Animation/pillow.gif",
    ]

    private func mean(_ first: Image, _ second: Image) throws -> Double {
        try #require(first.pixelWidth == second.pixelWidth && first.pixelHeight == second.pixelHeight)
        var sum = 0.0
        for y in 0..<first.pixelHeight {
            for x in 0..<first.pixelWidth {
                let one = first.bitmap.premultipliedRGBA(x: x, y: y)
                let other = second.bitmap.premultipliedRGBA(x: x, y: y)
                for (a, b) in zip(one, other) { sum += abs(Double(a) - Double(b)) }
            }
        }
        return sum / Double(first.pixelWidth * first.pixelHeight * 4)
    }

    @Test(arguments: images) func `A hash of samples decodes to the same preview as one of all pixels`(name: String)
        async throws
    {
        let image = try await Image.decode(try Fixtures.data(name)).still
        let (all, samples) = (try ThumbHash(image), try ThumbHash(sampling: image))
        #expect(samples.bytes.count == all.bytes.count && samples.hasAlpha == all.hasAlpha)
        #expect(samples.approximateAspectRatio == all.approximateAspectRatio)
        #expect(try mean(try samples.makeImage(), try all.makeImage()) < 8)
    }

    @Test(arguments: [(1, 1), (3, 1), (1, 200), (40, 30), (16, 16), (17, 5), (2000, 3)])
    func `An image of any size has a hash`(width: Int, height: Int) throws {
        for format in [PixelFormat.rgb8, .bgra8Premultiplied] {
            let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
            for row in 0..<height {
                for byte in 0..<width * format.bytesPerPixel {
                    bitmap.mutableRow(row).storeBytes(of: 200, toByteOffset: byte, as: UInt8.self)
                }
            }
            let hash = try ThumbHash(sampling: Image(bitmap: bitmap))
            let exact = try ThumbHash(Image(bitmap: bitmap))
            #expect(ThumbHash(bytes: hash.bytes) == hash && hash.bytes.count >= 5)
            #expect(abs(hash.averageColor.green - exact.averageColor.green) < 0.02)
        }
    }

    @Test func `A load stores the original's hash with its entry`() async throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let manager = WebImageManager(cache: cache, loader: FileImageLoader.shared, pipeline: Pipeline())
        let url = URL(fileURLWithPath: Fixtures.path("JPEG/photo.jpg"))
        let key = manager.cacheKey(for: url)
        #expect(await cache.thumbHash(forKey: key) == nil)
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        context.preserveAspectRatio = false
        _ = try await manager.result(with: url, options: .waitStoreCache, context: context)
        let hash = try #require(await cache.thumbHash(forKey: key))
        let exact = try ThumbHash(try await Image.decode(try Fixtures.data("JPEG/photo.jpg")))
        #expect(
            hash.approximateAspectRatio == exact.approximateAspectRatio,
            "the hash of the image, not of the stretched one"
        )
        #expect(try mean(try hash.makeImage(), try exact.makeImage()) < 12)
        // A new process finds it, too.
        let second = ImageCache(directory: directory.path)
        #expect(await second.thumbHash(forKey: key) == hash && second.diskEntry(forKey: key)?.thumbHash == hash)
    }

    @Test func `The hash stays when other metadata changes, and is removed with the entry`() async throws {
        let cache = ImageCache(directory: TemporaryDirectory().path)
        let hash = try #require(ThumbHash(bytes: [1, 2, 3, 0, 0] + [UInt8](repeating: 9, count: 20)))
        var request = ImageStoreRequest(key: "k", data: Data("bytes".utf8))
        request.thumbHash = hash
        let stored = request
        await withCheckedContinuation { continuation in cache.store(stored) { continuation.resume() } }
        await cache.setExtendedData(Data([7]), forKey: "k")
        #expect(await cache.thumbHash(forKey: "k") == hash && cache.diskEntry(forKey: "k")?.extendedData == Data([7]))
        await cache.store(nil, data: Data("others".utf8), forKey: "k")
        #expect(await cache.thumbHash(forKey: "k") == nil, "other bytes are another image")
        await cache.removeImage(forKey: "k")
        #expect(await cache.thumbHash(forKey: "k") == nil)
    }

    @Test func `A damaged hash is ignored`() {
        var trailer = EntryTrailer(key: "k", created: 0)
        trailer.records = [EntryTrailer.Record(tag: EntryTrailer.Tag.thumbHash, bytes: Data([1, 2]))]
        #expect(trailer.thumbHash == nil)
        trailer.thumbHash = ThumbHash(bytes: [UInt8](repeating: 0, count: 30))
        #expect(trailer.thumbHash != nil && trailer.records.count == 1)
    }
}
