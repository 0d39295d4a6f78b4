import FoundationEssentials
import TestSupport
import Testing
import WebImage

extension TrapTests {
    /// A load's options that reduce an image, and where it stores which image.
    private struct Variant: CustomStringConvertible {
        var box: ImageSize?
        var preservesAspectRatio: Bool?
        var covers: Bool?
        var byteLimit: Int?
        var side: Int?
        var originalStore: ImageCacheType?
        var store: ImageCacheType?

        var description: String {
            "\(String(describing: (box, preservesAspectRatio, covers, byteLimit, side, store)))"
        }

        func apply(to context: inout WebImageContext) {
            context.thumbnailPixelSize = box
            context.preserveAspectRatio = preservesAspectRatio
            context.thumbnailCovers = covers
            context.scaleDownLimitBytes = byteLimit
            if let side {
                let size = ImageSize(width: side, height: side)
                context.imageTransformer = .transformer(ResizingTransformer(size: size, scaleMode: .aspectFit))
            }
            context.originalStoreCacheType = originalStore
            context.storeCacheType = store
        }

        static var all: [Variant] {
            var list = [Variant()]
            func cross(_ change: (Variant) -> [Variant]) { list = list.flatMap(change) }
            func with(_ variant: Variant, _ change: (inout Variant) -> Void) -> Variant {
                var copy = variant
                change(&copy)
                return copy
            }
            let box = ImageSize(width: 30, height: 40)
            cross { plain in
                [
                    plain, with(plain) { $0.box = box },
                    with(plain) { ($0.box, $0.preservesAspectRatio) = (box, false) },
                    with(plain) { ($0.box, $0.covers) = (box, true) },
                ]
            }
            cross { [$0, with($0) { $0.byteLimit = 2_000 }] }
            cross { [$0, with($0) { $0.side = 20 }] }
            cross { [$0, with($0) { $0.originalStore = .all }, with($0) { $0.originalStore = .memory }] }
            cross { [$0, with($0) { $0.store = .memory }, with($0) { $0.store = .disk }] }
            return list
        }
    }

    private func isWhole(_ image: Image) -> Bool {
        let metadata = image.metadata
        return image.pixelWidth == 61 && image.pixelHeight == 45 && !metadata.isThumbnail && !metadata.isTransformed
            && metadata.scaleDownLimitBytes == 0 && !metadata.isIncremental
    }

    @Test func `Trap 1: no scaled image is found under the full-size key`() async throws {
        let bytes = try Fixtures.data("JPEG/baseline-420.jpg")
        let variants = Variant.all
        #expect(variants.count == 144)
        for variant in variants {
            let harness = try ImageHarness(fixture: "JPEG/baseline-420.jpg")
            let (cache, key) = (harness.cache, harness.url.absoluteString)
            let made = try await harness.load { variant.apply(to: &$0) }
            if let image = cache.memoryImage(forKey: key) {
                // An image scaled down by a byte limit is stored there, marked so that it serves no other load.
                #expect(isWhole(image) || image.metadata.scaleDownLimitBytes == 2_000, "\(variant)")
            }
            let stored = await cache.diskData(forKey: key)
            #expect(stored ?? bytes == bytes, "\(variant)")
            let whole = try await harness.load()
            #expect(isWhole(whole.image), "\(variant)")
            // Nor from disk, where only the key distinguishes them.
            await cache.clear(.memory)
            #expect(isWhole(try await harness.load().image), "\(variant)")
            // And vice versa: the whole image does not serve a load with a limit.
            let again = try await harness.load { variant.apply(to: &$0) }
            let isLimitedOnly = variant.box == nil && variant.side == nil
            #expect(
                (again.image.pixelWidth, again.image.pixelHeight)
                    == (isLimitedOnly ? (61, 45) : (made.image.pixelWidth, made.image.pixelHeight)),
                "\(variant)"
            )
        }
    }

    @Test(arguments: TestImages.animated)
    func `Trap 1: a first frame is not found under the animation's key`(name: String) async throws {
        let harness = try ImageHarness(fixture: name)
        let frames = try ImageCodersManager.shared.properties(of: Fixtures.data(name), limits: ImageLimits()).frameCount
        for options in [WebImageOptions.decodeFirstFrameOnly, [.decodeFirstFrameOnly, .fromLoaderOnly]] {
            _ = try await harness.load(options: options)
            #expect(try await harness.load().image.metadata.frameCount == frames)
            await harness.cache.clear(.memory)
            #expect(try await harness.load().image.metadata.frameCount == frames)
        }
        _ = try await harness.load(options: [.decodeFirstFrameOnly]) { $0.storeCacheType = .memory }
        #expect(try await harness.load(options: .fromCacheOnly).image.metadata.frameCount == frames)
    }

    @Test func `Trap 1: a query for a thumbnail stores nothing under the full-size key`() async throws {
        let harness = try ImageHarness(fixture: "JPEG/baseline-420.jpg")
        let (cache, key) = (harness.cache, harness.url.absoluteString)
        cache.storeDataToDisk(try Fixtures.data("JPEG/baseline-420.jpg"), forKey: key)
        let context = harness.context { $0.thumbnailPixelSize = ImageSize(width: 10, height: 10) }
        for options in [WebImageOptions(), .queryMemoryData] {
            let small = await cache.queryImage(forKey: key, options: options, context: context)
            #expect(small.image?.pixelWidth == 10)
        }
        #expect(cache.memoryImage(forKey: key).map(isWhole) ?? true)
        let image = try #require(await cache.queryImage(forKey: key, context: harness.context()).image)
        #expect(isWhole(image))
    }
}
