import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImageRAW

@testable import WebImageIsolation

/// Raw files in workers, as registered by default.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(4))
)
struct RAWIsolationTests {
    private static func coder(seconds: Double) -> IsolatedImageCoder {
        var isolation = DecodeIsolation(formats: [.raw])
        (isolation.workerPath, isolation.maximumDecodeDuration) = (DecoderProgram.path, seconds)
        return IsolatedImageCoder(isolation, base: RAWCoder())
    }

    private static let files = ["dng", "nef", "arw", "cr2", "orf", "raf", "rw2", "cr3"].flatMap { ending in
        Fixtures.names(in: "RAW", ending: ending).map { "\($0).\(ending)" }
    }

    /// A problem with a damaged file, beyond an error of it.
    private static func complaint(about data: Data, _ coder: IsolatedImageCoder) -> String? {
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 1 << 16
        var small = options
        small.thumbnailPixelSize = ImageSize(width: 7, height: 7)
        let properties: ImageProperties?
        let image: Image?
        do throws(WebImageError) {
            properties = try unlessDamaged { () throws(WebImageError) in
                try coder.properties(of: data, limits: options.limits)
            }
            let thumbnail = try unlessDamaged { () throws(WebImageError) in try coder.decode(data, options: small) }
            if let thumbnail, max(thumbnail.pixelWidth, thumbnail.pixelHeight) > 7 { return "a thumbnail is too big" }
            options.rawDevelopment = .full
            image = try unlessDamaged { () throws(WebImageError) in try coder.decode(data, options: options) }
        } catch { return "\(error)" }
        guard let image else { return nil }
        guard let properties else { return "pixels without a header" }
        let (width, height) = properties.uprightSize
        let isAsStated = (image.pixelWidth, image.pixelHeight) == (width, height)
        return isAsStated ? nil : "\(image.pixelWidth)x\(image.pixelHeight) pixels for \(width)x\(height)"
    }

    /// Returns nil for the errors of damaged files, to which the end of a worker does not belong.
    private static func unlessDamaged<Value>(
        _ body: () throws(WebImageError) -> Value
    ) throws(WebImageError) -> Value? {
        do throws(WebImageError) {
            return try body()
        } catch {
            let codes: [WebImageError.Code] = [
                .badImageData, .limitExceeded, .unsupportedFormat, .previewNotFound, .outOfMemory,
            ]
            guard codes.contains(error.code) else { throw error }
            return nil
        }
    }

    @Test(arguments: files)
    func `Damaged files are decoded or are errors, and no worker hangs or ends`(file: String) async throws {
        let data = try Fixtures.data("RAW/\(file)")
        let coder = Self.coder(seconds: 10)
        let complaints = await valueOnThread {
            (DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data)).compactMap {
                Self.complaint(about: $0, coder)
            }
        }
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test(arguments: files)
    func `A worker has the same result as this process`(file: String) async throws {
        let data = try Fixtures.data("RAW/\(file)")
        for development in [ImageDecodeOptions.RawDevelopment.preview, .full] {
            var options = ImageDecodeOptions()
            (options.rawDevelopment, options.limits.maximumPixelCount) = (development, 1 << 20)
            let ours = await Self.outcome(data, options, RAWCoder())
            let theirs = await Self.outcome(data, options, Self.coder(seconds: 60))
            #expect(ours == theirs, "\(development)")
        }
    }

    private static func outcome(
        _ data: Data,
        _ options: ImageDecodeOptions,
        _ coder: any ImageCoder
    ) async -> [String] {
        do throws(WebImageError) {
            let image = try await Image.decode(data, options: options, coder: coder)
            return ["\(image.metadata)", "\(image.bitmap.components.hashValue)"]
        } catch {
            return ["\(error.code)", error.message]
        }
    }

    @Test func `A development that takes too long ends at its time limit`() async throws {
        var options = ImageDecodeOptions()
        (options.rawDevelopment, options.limits.maximumDecodeDuration) = (.full, 0)
        let error = await #expect(throws: WebImageError.self) {
            try await Image.decode(
                Fixtures.data("RAW/pidng.dng"),
                options: options,
                coder: Self.coder(seconds: 60)
            )
        }
        #expect(error?.code == .decodeTimedOut, "\(error as Any)")
    }

    @Test func `Raw files are registered isolated, and decoded in the process by a program that adds the coder`() throws
    {
        let data = try Fixtures.data("RAW/previews.dng")
        let coders = ImageCodersManager()
        #expect(!coders.canDecode(data))
        WebImageFormats.registerAll(in: coders)
        #expect(coders.canDecode(data) && !coders.canDecodeIncrementally(data))
        #expect(CodingQueue.queue(of: coders, for: data) !== CodingQueue.shared)
        let own = ImageCodersManager(coders: [RAWCoder()])
        WebImageFormats.registerAll(in: own)
        #expect(CodingQueue.queue(of: own, for: data) === CodingQueue.shared)
        #expect(DecodeIsolation.riskyFormats.contains(.raw))
    }
}

/// Loads of raw files.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct RAWLoadTests {
    private let directory = TemporaryDirectory()

    private func manager() -> WebImageManager {
        WebImageManager(cache: ImageCache(directory: directory.path), loader: DataURLImageLoader.shared)
    }

    private func context(_ development: ImageDecodeOptions.RawDevelopment?, _ side: Int? = nil) -> WebImageContext {
        var context = WebImageContext()
        let coders = ImageCodersManager()
        WebImageFormats.registerAll(in: coders)
        context.imageCoder = coders
        context.rawDevelopment = development
        context.thumbnailPixelSize = side.map { ImageSize(width: $0, height: $0) }
        return context
    }

    private func url(_ file: String, type: String = "image/x-dcraw") throws -> URL {
        try #require(URL(string: "data:\(type);base64,\(try Fixtures.data(file).base64EncodedString())"))
    }

    @Test func `Preview and developed image are cached apart, in memory and on disk, also as thumbnails`() async throws
    {
        let url = try url("RAW/nikon.nef")
        let keys = [nil, .full].flatMap { development in
            [nil, 50].map { manager().cacheKey(for: url, context: context(development, $0)) }
        }
        #expect(Set(keys).count == 4)
        #expect(manager().cacheKey(for: url, context: context(.preview)) == keys[0])
        for _ in 0..<2 {
            // The second time from disk.
            let manager = manager()
            for _ in 0..<2 {
                for (development, height) in [(ImageDecodeOptions.RawDevelopment.full, 95), (nil, 96), (.preview, 96)] {
                    let image = try await manager.image(with: url, context: context(development))
                    #expect((image.pixelWidth, image.pixelHeight) == (64, height), "\(development as Any)")
                    let small = try await manager.image(with: url, context: context(development, 40))
                    #expect(small.pixelHeight == 40, "\(development as Any)")
                }
            }
            await (manager.imageCache as? ImageCache)?.flush()
        }
    }

    @Test func `A missing preview does not keep the file from being developed`() async throws {
        let url = try url("RAW/pidng.dng")
        let manager = manager()
        let error = await #expect(throws: WebImageError.self) {
            try await manager.image(with: url, context: context(nil))
        }
        #expect(error?.code == .previewNotFound && error?.url == url)
        #expect(try await manager.image(with: url, context: context(.full)).pixelWidth == 96)
    }

    @Test func `Images of other formats ignore it, and are stored as received`() async throws {
        let url = try url("PNG/photo-rgb.png", type: "image/png")
        let manager = manager()
        let plain = try await manager.image(with: url, context: context(nil))
        let developed = try await manager.image(with: url, context: context(.full))
        #expect(plain.bitmap.components == developed.bitmap.components)
        let cache = try #require(manager.imageCache as? ImageCache)
        await cache.flush()
        let key = manager.cacheKey(for: url, context: context(.full))
        let stored = await valueOnThread { cache.diskData(forKey: key) }
        #expect(stored == (try Fixtures.data("PNG/photo-rgb.png")))
    }
}
