import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

extension TrapTests {
    @Test(arguments: TestImages.still)
    func `Trap 14: an image behind 64 KiB segments is recognized and read once`(name: String) async throws {
        let plain = try Fixtures.data(name)
        let data = ImageSurgery.withPreamble(plain, count: 700_001)
        let known = try ImageCodersManager.shared.properties(of: plain, limits: ImageLimits())
        let properties = try ImageCodersManager.shared.properties(of: data, limits: ImageLimits())
        #expect(properties.format == known.format && known.format != .undefined)
        #expect((properties.width, properties.height) == (known.width, known.height))
        // As a server sends it, in pieces.
        let pieces = stride(from: 0, to: data.count, by: 5_000).map { [UInt8](data[$0..<min($0 + 5_000, data.count)]) }
        let harness = try EndToEndHarness { _ in .chunked(pieces) }
        let coder = CountedCoders()
        let context = WebImageContext.with { $0.imageCoder = coder }
        let result = try await harness.manager.result(with: harness.server.url("/a"), context: context)
        #expect(coder.decodeCount == 1 && result.data == data)
        let expected = try ImageCodersManager.shared.decode(plain, options: ImageDecodeOptions())
        #expect(haveSamePixels(result.image, expected))
        // A header truncated before the image is an error, and not an image of another size.
        for count in [50, 5_000, 65_600, 300_000, 700_000] {
            #expect(throws: WebImageError.self) {
                try ImageCodersManager.shared.decode(data.prefix(count), options: ImageDecodeOptions())
            }
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Trap 15: a rotated thumbnail is upright and marked so`(orientation: ImageOrientation) async throws {
        let name = "JPEG/orientation-\(orientation.rawValue)"
        let box = orientation.swapsSides ? ImageSize(width: 22, height: 30) : ImageSize(width: 30, height: 22)
        for size in [nil, box] {
            let harness = try ImageHarness(fixture: name + ".jpg")
            let expected = try Fixtures.pixels(name + (size == nil ? ".ppm" : "-thumbnail.ppm"))
            // From the loader, from memory, from disk as the original, and from disk as re-encoded.
            for way in ["loader", "memory", "original", "memory", "stored"] {
                let result = try await harness.load {
                    $0.thumbnailPixelSize = size
                    $0.storeCacheType = way == "loader" ? .memory : .all
                }
                let image = result.image
                let difference = PixelDifference(image.bitmap, expected)
                #expect(difference.mean <= (size == nil ? 0 : way == "stored" ? 5 : 1), "\(way): \(difference)")
                #expect(image.orientation == .up, "\(way)")
                #expect(image.metadata.isThumbnail == (size != nil) || way == "stored", "\(way)")
                #expect(result.cacheType == (["loader": .none, "memory": .memory][way] ?? .disk), "\(way)")
                if way == "memory" { await harness.cache.clear(.memory) }
            }
            // Its encoded form, here or in the cache, is upright without an orientation tag.
            let key = harness.manager.cacheKey(for: harness.url, context: .with { $0.thumbnailPixelSize = size })
            var files = size == nil ? [] : [try #require(await harness.cache.diskData(forKey: key))]
            let image = try await harness.load { $0.thumbnailPixelSize = size }.image
            for format in [ImageFormat.jpeg, .png, .webp] {
                files.append(try harness.coder.encode(image, to: format, options: ImageEncodeOptions()))
            }
            for file in files {
                let properties = try harness.coder.properties(of: file, limits: ImageLimits())
                #expect(properties.orientation == .up)
                #expect((properties.width, properties.height) == (expected.width, expected.height))
            }
        }
    }

    @Test(arguments: TestImages.still)
    func `Trap 16: thumbnail size and byte limit work on every format`(name: String) async throws {
        let harness = try ImageHarness(fixture: name)
        func made(_ change: (inout WebImageContext) -> Void) async throws -> Image {
            await harness.cache.clear(.all)
            return try await harness.load(nil, options: [], change).image
        }
        let whole = try await made { _ in }
        let (width, height) = (whole.pixelWidth, whole.pixelHeight)
        #expect(width > 80 && height > 60)
        let box = ImageSize(width: width / 3, height: height / 3)

        let fitted = try await made { $0.thumbnailPixelSize = ImageSize(width: box.width, height: 10_000) }
        #expect(fitted.pixelWidth == width / 3 && abs(fitted.pixelHeight - height / 3) <= 1)
        #expect(fitted.metadata.isThumbnail && fitted.metadata.format == whole.metadata.format)
        let stretched = try await made {
            ($0.thumbnailPixelSize, $0.preserveAspectRatio) = (ImageSize(width: 20, height: 60), false)
        }
        #expect((stretched.pixelWidth, stretched.pixelHeight) == (20, 60))
        let limit = width * height
        for isThumbnail in [false, true] {
            let limited = try await made {
                $0.scaleDownLimitBytes = limit
                if isThumbnail { $0.thumbnailPixelSize = ImageSize(width: width - 1, height: height - 1) }
            }
            let bytes = limited.pixelWidth * limited.pixelHeight * 4
            #expect(bytes <= limit && bytes > limit * 9 / 10, "\(bytes) of \(limit)")
        }
        // Faster and worse is other pixels; another layout is another layout.
        let fast = try await made {
            $0.thumbnailPixelSize = box
            $0.decodeOptions = ImageDecodeOptions()
            $0.decodeOptions?.scalingQuality = .fast
        }
        let good = try await made { $0.thumbnailPixelSize = box }
        #expect((fast.pixelWidth, fast.pixelHeight) == (good.pixelWidth, good.pixelHeight))
        #expect(!haveSamePixels(fast, good))
        let options = ImageDecodeOptions.with { $0.pixelFormat = .bgra8Premultiplied }
        #expect(try await made { $0.decodeOptions = options }.bitmap.pixelFormat == .bgra8Premultiplied)
        #expect(try await made { $0.imageScaleFactor = 2 }.scale == 2)
        // Limits.
        for options in [
            ImageDecodeOptions.with { $0.limits.maximumPixelCount = width * height - 1 },
            .with { $0.limits.maximumDecodedByteCount = width * height * 3 - 1 },
        ] {
            await #expect(throws: WebImageError.self) { try await made { $0.decodeOptions = options } }
        }
    }

    @Test(arguments: TestImages.animated)
    func `Trap 16: animation options work on every animated format`(name: String) async throws {
        let harness = try ImageHarness(fixture: name)
        let frames = try await harness.load().image
        #expect(frames.metadata.frameCount >= 3)
        let limit = frames.pixelWidth * frames.pixelHeight * 4
        await harness.cache.clear(.memory)
        // The limit is one for all frames.
        let limited = try await harness.load { $0.scaleDownLimitBytes = limit }.image
        let bytes = limited.pixelWidth * limited.pixelHeight * 4 * frames.metadata.frameCount
        #expect(bytes <= limit && bytes > limit / 2, "\(bytes) of \(limit)")
        await harness.cache.clear(.memory)
        let first = try await harness.load(options: .decodeFirstFrameOnly) { $0.scaleDownLimitBytes = limit }.image
        #expect((first.pixelWidth, first.pixelHeight) == (frames.pixelWidth, frames.pixelHeight))
        await harness.cache.clear(.memory)
        let options = ImageDecodeOptions.with { $0.limits.maximumFrameCount = 2 }
        await #expect(throws: WebImageError.self) { try await harness.load { $0.decodeOptions = options } }
        _ = try await harness.load(options: .decodeFirstFrameOnly) { $0.decodeOptions = options }
        let small = try await harness.load { $0.thumbnailPixelSize = ImageSize(width: 8, height: 8) }.image
        #expect(max(small.pixelWidth, small.pixelHeight) == 8 && small.metadata.frameCount >= 3)
    }
}

extension ImageDecodeOptions {
    /// Options with the changes of `change`.
    static func with(_ change: (inout ImageDecodeOptions) -> Void) -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        change(&options)
        return options
    }
}
