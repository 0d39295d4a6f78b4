import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Loaders that deliver an image without bytes.
@Suite struct ImageWithoutBytesTests {
    private let harness = ManagerHarness()
    private let url = URL(string: "drawing://one")!

    /// 40 × 20 pixels, the left half red, the right half blue.
    private func drawing(_ orientation: ImageOrientation = .up) throws -> Image {
        let bitmap = try Bitmap.allocate(width: 40, height: 20, pixelFormat: .rgb8)
        for y in 0..<20 {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<40 { (row[x * 3], row[x * 3 + 1], row[x * 3 + 2]) = x < 20 ? (255, 0, 0) : (0, 0, 255) }
        }
        return Image(bitmap: bitmap, orientation: orientation, extendedData: Data("mine".utf8))
    }

    private func loader(_ image: Image, data: Data? = nil) -> ClosureImageLoader {
        ClosureImageLoader(canLoad: { url, _ in url.scheme == "drawing" }) { _, _ in
            LoadedImageData(image: image, data: data)
        }
    }

    private func color(_ image: Image, _ x: Int, _ y: Int) -> [UInt8] {
        let row = image.bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
        guard image.hasAlpha else { return [row[x * 3], row[x * 3 + 1], row[x * 3 + 2]] }
        return [row[x * 4 + 2], row[x * 4 + 1], row[x * 4]]
    }

    @Test func `An image without bytes is scaled, encoded and stored`() async throws {
        let loader = loader(try drawing())
        let context = harness.context {
            $0.imageLoader = loader
            $0.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        }
        let result = try await harness.start(url, options: .waitStoreCache, context: context).outcome.value().get()
        #expect([result.image.pixelWidth, result.image.pixelHeight] == [10, 5] && result.image.metadata.isThumbnail)
        #expect(color(result.image, 1, 2) == [255, 0, 0] && color(result.image, 8, 2) == [0, 0, 255])
        #expect(result.data == nil && result.cacheType == .none && harness.coder.decodes.isEmpty)
        let original = try #require(harness.cache.edit { $0.disk[url.absoluteString] })
        #expect(original.data == Data("encoded".utf8) && original.extendedData == Data("mine".utf8))
        #expect(harness.cache.diskKeys == [url.absoluteString, result.cacheKey])
        #expect(harness.cache.edit { $0.stores.allSatisfy { !$0.hasData } })
    }

    @Test func `The next process finds the stored entry, in the requested format`() async throws {
        let directory = TemporaryDirectory()
        func manager() throws -> (WebImageManager, ImageCache) {
            let cache = ImageCache(namespace: "drawings", directory: directory.path)
            return (WebImageManager(cache: cache, loader: loader(try drawing()), pipeline: Pipeline()), cache)
        }
        var context = WebImageContext()
        context.encodeOptions = ImageEncodeOptions()
        let (first, written) = try manager()
        let drawn = try await first.result(with: url, options: .waitStoreCache, context: context)
        #expect(drawn.data == nil && [drawn.image.pixelWidth, drawn.image.pixelHeight] == [40, 20])
        let bytes = try #require(written.diskData(forKey: url.absoluteString))
        let properties = try ImageCodersManager.shared.properties(of: bytes, limits: ImageLimits())
        #expect(properties.format == .jpeg, "nothing transparent in it")
        let (second, _) = try manager()
        let read = try await second.result(with: url, options: .fromCacheOnly)
        #expect(read.cacheType == .disk && read.data == bytes)
        #expect([read.image.pixelWidth, read.image.pixelHeight] == [40, 20])
        let left = color(read.image, 5, 10)
        #expect(left[0] > 240 && left[1] < 20 && left[2] < 20)
    }

    @Test func `An image with bytes is used unchanged, and the bytes are stored`() async throws {
        let image = try drawing()
        let loader = loader(image, data: Data("bytes".utf8))
        let context = harness.context { $0.imageLoader = loader }
        let result = try await harness.start(url, options: .waitStoreCache, context: context).outcome.value().get()
        #expect(result.image.bitmap.storage === image.bitmap.storage && result.data == Data("bytes".utf8))
        #expect(harness.coder.decodes.isEmpty)
        #expect(harness.cache.edit { $0.disk[url.absoluteString]?.data } == Data("bytes".utf8))
    }

    @Test func `Rotated images are delivered upright, within the byte limit and the pixel limits`() async throws {
        let turned = try drawing(.right)
        let loader = loader(turned)
        let context = harness.context { $0.imageLoader = loader }
        let upright = try await harness.start(url, context: context).outcome.image()
        #expect([upright.pixelWidth, upright.pixelHeight] == [20, 40] && upright.orientation == .up)
        #expect(color(upright, 10, 2) == [255, 0, 0] && color(upright, 10, 38) == [0, 0, 255])
        var options = ImageDecodeOptions()
        options.scaleDownLimitBytes = 800
        let small = try turned.reduced(by: options)
        #expect([small.pixelWidth, small.pixelHeight] == [10, 20] && small.metadata.scaleDownLimitBytes == 800)
        #expect(!small.metadata.isThumbnail && small.metadata.sourceWidth == 40)
        options.limits.maximumPixelCount = 799
        let refused = #expect(throws: WebImageError.self) { try turned.reduced(by: options) }
        #expect(refused?.code == .limitExceeded && refused?.limit?.name == "maximumPixelCount")
        options = ImageDecodeOptions()
        options.pixelFormat = .bgra8Premultiplied
        options.scaleFactor = 2
        let shown = try drawing().reduced(by: options)
        #expect(shown.hasAlpha && shown.scale == 2 && color(shown, 1, 1) == [255, 0, 0])
    }

    @Test func `The serializer gets the image, and its bytes are stored`() async throws {
        let seen = Lock<[(Int?, Data?)]>([])
        let loader = loader(try drawing())
        let context = harness.context {
            $0.imageLoader = loader
            $0.cacheSerializer = CacheSerializer { image, data, _ in
                seen.withLock { $0.append((image?.pixelWidth, data)) }
                return Data("mine".utf8)
            }
        }
        _ = try await harness.start(url, options: .waitStoreCache, context: context).outcome.value().get()
        #expect(seen.withLock { $0.count } == 1 && seen.withLock { $0[0].0 } == 40 && seen.withLock { $0[0].1 } == nil)
        #expect(harness.cache.edit { $0.disk[url.absoluteString]?.data } == Data("mine".utf8))
    }

    @Test func `A refresh treats a new image as changed`() async throws {
        let loader = loader(try drawing())
        let context = harness.context { $0.imageLoader = loader }
        _ = try await harness.start(url, options: .waitStoreCache, context: context).outcome.image()
        let outcome = harness.start(url, options: [.refreshCached, .waitStoreCache], context: context).outcome
        let results = await outcome.values(2)
        #expect(try results[0].get().cacheType == .memory && !(try results[0].get().isFinal))
        #expect(try results[1].get().cacheType == .none && (try results[1].get().isFinal))
    }

    @Test func `A prefetch to disk stores it, and a load of bytes fails`() async throws {
        let loader = loader(try drawing())
        let context = harness.context { $0.imageLoader = loader }
        let prefetcher = WebImagePrefetcher(manager: harness.manager)
        let progress = await prefetcher.prefetchAll([url], target: .disk, context: context)
        #expect(progress.skippedCount == 0 && harness.cache.diskKeys == [url.absoluteString])
        let other = URL(string: "drawing://two")!
        await #expect(throws: WebImageError(.badImageData, "", url: other)) {
            _ = try await harness.manager.data(with: other, context: context)
        }
    }
}
