import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImageVideo

/// Frames decoded in workers, beside those that the program ffmpeg decodes and converts.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct VideoDecodingTests {
    @Test func `All fixtures are known`() {
        #expect(VideoHarness.files.count == 25 && VideoHarness.stills.count >= 30)
    }

    @Test(arguments: VideoHarness.stills)
    func `A frame has the pixels that another program decodes`(file: String, time: String) async throws {
        let image = try await VideoHarness.file(file, at: Double(time))
        let expected = try Fixtures.pixels("Video/\(file)-\(time).ppm")
        let difference = PixelDifference(image.bitmap, expected)
        // Scaling to square pixels before or after the conversion, and rounding before or after a rotation.
        #expect(difference.mean <= 0.3 && difference.maximum <= (file == "wide.mp4" ? 40 : 8), "\(difference)")
        #expect(!image.hasAlpha && image.bitmap.pixelFormat == .rgb8 && !image.metadata.isDamaged)
        #expect(image.orientation == .up && image.metadata.frameCount == 1 && !image.metadata.isThumbnail)
    }

    @Test(arguments: VideoHarness.files)
    func `The properties are those of the upright still`(file: String) async throws {
        let properties = try await VideoHarness.properties(Fixtures.data("Video/\(file)"))
        let image = try await VideoHarness.file(file)
        let (width, height) = properties.uprightSize
        #expect((image.pixelWidth, image.pixelHeight) == (width, height))
        let short = ["prores.mov": 0.4, "mjpeg.mov": 0.4]
        let duration = try #require(properties.videoDuration)
        #expect(abs(duration - (short[file] ?? 2)) < 0.11)
        #expect(properties.format == ImageFormat(fileExtension: URL(filePath: file).pathExtension))
        #expect(image.format == properties.format && properties.frameCount == 1 && properties.pageCount == 1)
        #expect(properties.isHighDynamicRange == ["pq.mp4", "hlg.mp4"].contains(file))
        #expect((properties.width, properties.height) == (file == "wide.mp4" ? 128 : 96, 64))
        let turns: [String: ImageOrientation] = [
            "turned-90.mp4": .left, "turned-180.mp4": .down, "turned-270.mp4": .right,
        ]
        #expect(properties.orientation == turns[file] ?? .up)
    }

    @Test(arguments: [("h264.mp4", "0"), ("black.mp4", "0.6"), ("one-group.mp4", "0.6")])
    func `By default the first frame that is not black is decoded`(file: String, time: String) async throws {
        let image = try await VideoHarness.file(file)
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("Video/\(file)-\(time).ppm"))
        #expect(difference.maximum <= 8, "\(difference)")
    }

    @Test func `A video that is black has a black still`() async throws {
        let image = try await VideoHarness.file("dark.mp4")
        #expect(image.bitmap.premultipliedRGBA(x: 50, y: 30) == [0, 0, 0, 255])
    }

    @Test(arguments: ["h264.mp4", "vp9.webm", "h264.mkv", "fragmented.mp4"])
    func `Between two frames the earlier one is shown, and after the end the last one`(file: String) async throws {
        let exact = try await VideoHarness.file(file, at: 1.1)
        for time in [1.101, 1.15, 1.199] {
            #expect(try await VideoHarness.file(file, at: time).premultipliedPixels == exact.premultipliedPixels)
        }
        let last = try await VideoHarness.file(file, at: 1.9)
        for time in [2.0, 2.5, 1e5, 1e300] {
            #expect(try await VideoHarness.file(file, at: time).premultipliedPixels == last.premultipliedPixels)
        }
        let first = try await VideoHarness.file(file, at: 0)
        #expect(try await VideoHarness.file(file, at: -3).premultipliedPixels == first.premultipliedPixels)
        #expect(first.premultipliedPixels != exact.premultipliedPixels)
        #expect(exact.premultipliedPixels != last.premultipliedPixels)
    }

    @Test func `A thumbnail fits its box, upright and with square pixels`() async throws {
        let plain = try await VideoHarness.file("wide.mp4") { $0.thumbnailPixelSize = ImageSize(width: 64, height: 64) }
        #expect((plain.pixelWidth, plain.pixelHeight) == (64, 32) && plain.metadata.isThumbnail)
        #expect((plain.metadata.sourceWidth, plain.metadata.sourceHeight) == (128, 64))
        let turned = try await VideoHarness.file("turned-90.mp4") {
            $0.thumbnailPixelSize = ImageSize(width: 48, height: 48)
        }
        #expect((turned.pixelWidth, turned.pixelHeight) == (32, 48))
        let large = try await VideoHarness.file("h264.mp4") {
            $0.thumbnailPixelSize = ImageSize(width: 400, height: 400)
        }
        #expect((large.pixelWidth, large.pixelHeight) == (96, 64))
    }

    @Test(arguments: ["pq.mp4", "hlg.mp4", "prores.mov"])
    func `More than 8 bits are kept on request`(file: String) async throws {
        let image = try await VideoHarness.file(file) { $0.decodeToHDR = true }
        #expect(image.bitmap.pixelFormat == .rgbaHalfPremultiplied)
        #expect(image.metadata.isHighDynamicRange == (file != "prores.mov"))
        let small = try await VideoHarness.file(file) { $0.thumbnailPixelSize = ImageSize(width: 24, height: 24) }
        #expect(small.bitmap.pixelFormat == .rgb8 && small.pixelWidth == 24)
    }

    @Test(arguments: PixelFormat.allCases)
    func `Pixels are the same in every format, and opaque`(format: PixelFormat) async throws {
        let plain = try await VideoHarness.file("hevc.mp4")
        let image = try await VideoHarness.file("hevc.mp4") { $0.pixelFormat = format }
        #expect(image.bitmap.pixelFormat == format && image.metadata == plain.metadata)
        guard format != .rgbaHalfPremultiplied else { return }
        #expect(image.bitmap.components == plain.bitmap.components)
    }

    @Test func `A video has no second page`() async throws {
        let error = await #expect(throws: WebImageError.self) {
            try await VideoHarness.file("h264.mp4") { $0.page = 1 }
        }
        #expect(error?.code == .pageNotFound)
    }

    @Test(arguments: VideoHarness.files)
    func `A file that is read in parts gives the same still`(file: String) async throws {
        let data = try Fixtures.data("Video/\(file)")
        let whole = try await VideoHarness.file(file, at: 1)
        let source = VideoHarness.CountingSource(data)
        let coder = VideoHarness.coder()
        var options = ImageDecodeOptions()
        options.videoTime = 1
        let (image, properties) = try await valueOnThread { [options] in
            Result {
                (try coder.decode(source, options: options), try coder.properties(of: source, limits: ImageLimits()))
            }
        }.get()
        #expect(image.premultipliedPixels == whole.premultipliedPixels && image.metadata == whole.metadata)
        #expect(try await VideoHarness.properties(data) == properties)
    }

    @Test func `A file that cannot be read is its own error, and the worker decodes the next`() async throws {
        let data = try Fixtures.data("Video/h264.mp4")
        let refusal = WebImageError(.limitExceeded, "enough")
        let source = VideoHarness.CountingSource(data, failing: refusal)
        let coder = VideoHarness.coder()
        let error = await valueOnThread { () -> WebImageError? in
            do throws(WebImageError) {
                _ = try coder.decode(source, options: ImageDecodeOptions())
                return nil
            } catch { return error }
        }
        #expect(error?.message == "enough" && error?.code == .limitExceeded)
        #expect(try await VideoHarness.file("h264.mp4").pixelWidth == 96)
    }

    @Test func `After a part that cannot be read, no frame before it is taken for the still`() async throws {
        let data = try Fixtures.data("Video/one-group.mp4")
        let coder = VideoHarness.coder()
        for time in [nil, 0.6] {
            let expected = try await VideoHarness.file("one-group.mp4", at: time)
            var (failures, images) = (0, 0)
            for count in stride(from: 0, through: 20 * data.count, by: 900) {
                let lost = WebImageError(.networkConnectionLost, "lost")
                let source = VideoHarness.CountingSource(data, failing: lost, after: count, partByteCount: 200)
                var options = ImageDecodeOptions()
                options.videoTime = time
                let result = await valueOnThread { [options] in
                    Result { () throws(WebImageError) in try coder.decode(source, options: options) }
                }
                switch result {
                case .success(let image):
                    images += 1
                    #expect(image.premultipliedPixels == expected.premultipliedPixels, "\(count)")
                case .failure(let error):
                    failures += 1
                    #expect(error.code == .networkConnectionLost, "\(count) \(error)")
                }
            }
            #expect(failures > 5 && images > 0)
        }
    }
}

/// Loads of stills.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct VideoLoadTests {
    private let directory = TemporaryDirectory()

    private func manager(_ loader: any ImageLoading) -> WebImageManager {
        WebImageManager(cache: ImageCache(directory: directory.path), loader: loader)
    }

    private func context(_ time: Double?, _ side: Int? = nil) -> WebImageContext {
        var context = WebImageContext()
        let coders = ImageCodersManager()
        WebImageFormats.registerAll(in: coders)
        context.imageCoder = coders
        context.videoTime = time
        context.thumbnailPixelSize = side.map { ImageSize(width: $0, height: $0) }
        return context
    }

    /// The formats of all files below the cache's directory that begin like an image.
    private func storedFormats() throws -> Set<ImageFormat> {
        var formats: Set<ImageFormat> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            guard let data = FileManager.default.contents(atPath: directory.path(name)) else { continue }
            for offset in 0..<max(min(data.count - 64, 4096), 0) {
                let format = ImageFormat(detecting: data.dropFirst(offset).prefix(64))
                if [.jpeg, .png].contains(format) || format.isVideo { formats.insert(format) }
            }
        }
        return formats
    }

    @Test func `Times and thumbnails are cached apart, in memory and on disk, and only stills are stored`() async throws
    {
        let data = try Fixtures.data("Video/h264.mp4")
        let url = try #require(URL(string: "data:video/mp4;base64,\(data.base64EncodedString())"))
        let keys = [nil, 0, 1.1].flatMap { time in
            [nil, 50].map { manager(DataURLImageLoader.shared).cacheKey(for: url, context: context(time, $0)) }
        }
        #expect(Set(keys).count == 6)
        let expected = try Fixtures.pixels("Video/h264.mp4-1.1.ppm")
        for round in 0..<2 {
            // The second time from disk.
            let manager = manager(DataURLImageLoader.shared)
            for time in [1.1, nil, 0.4, 1.1] {
                let result = try await manager.result(with: url, context: context(time))
                #expect(result.image.pixelWidth == 96 && result.data == nil || round > 0)
                if time == 1.1 {
                    // On disk, it is JPEG.
                    #expect(PixelDifference(result.image.bitmap, expected).mean <= (round == 0 ? 0.3 : 4))
                }
                let small = try await manager.image(with: url, context: context(time, 50))
                #expect(small.pixelWidth == 50)
            }
            await (manager.imageCache as? ImageCache)?.flush()
        }
        #expect(try storedFormats() == [.jpeg])
    }

    @Test func `A file is not read as a whole, however long it is`() async throws {
        // Its index is at the end, behind two gigabytes that are a hole.
        let path = try SparseVideo.make(in: directory, byteCount: 2 << 30)
        let url = URL(filePath: path)
        let manager = manager(FileImageLoader(maximumFileByteCount: 1 << 20))
        let image = try await manager.image(with: url, context: context(1.1))
        #expect(PixelDifference(image.bitmap, try Fixtures.pixels("Video/h264.mp4-1.1.ppm")).mean <= 0.3)
        let error = await #expect(throws: WebImageError.self) { try await manager.data(with: url) }
        #expect(error?.code == .limitExceeded)
        let short = URL(filePath: Fixtures.path("Video/h264.mp4"))
        #expect(try await manager.data(with: short) == Fixtures.data("Video/h264.mp4"))
    }

    @Test func `Prefetching a video to disk stores its still`() async throws {
        let url = URL(filePath: Fixtures.path("Video/vp9.webm"))
        let manager = manager(FileImageLoader.shared)
        let progress = await WebImagePrefetcher(manager: manager)
            .prefetchAll([url], target: .disk, context: context(1.1))
        #expect(progress.finishedCount == 1 && progress.skippedCount == 0)
        await (manager.imageCache as? ImageCache)?.flush()
        #expect(try storedFormats() == [.jpeg])
        let image = try await manager.image(with: url, options: .fromCacheOnly, context: context(1.1))
        #expect(PixelDifference(image.bitmap, try Fixtures.pixels("Video/vp9.webm-1.1.ppm")).mean <= 4)
    }
}
