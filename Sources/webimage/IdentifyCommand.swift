import FoundationEssentials
import WebImage

/// `webimage identify`: prints the properties of images.
enum IdentifyCommand: Command {
    static let name = "identify"
    static let usage = "[options] SOURCE…"
    static let summary =
        "Prints format, size, frames, pages, duration, orientation, alpha, colours, bytes, ThumbHash and BlurHash of each source."
    static let specs = [ImageArguments.pageSpec, ImageArguments.timeSpec] + CommonOptions.loadSpecs

    private struct Line: Encodable {
        var source: String
        var format: String
        var width: Int
        var height: Int
        var frames: Int
        var pages: Int
        var durations: [Double]
        var videoDuration: Double?
        var loopCount: Int
        var orientation: Int
        var alpha: Bool
        var bitsPerComponent: Int
        var highDynamicRange: Bool
        var colorProfile: String?
        var bytes: Int
        var thumbHash: String?
        var blurHash: String?

        enum CodingKeys: CodingKey {
            case source, format, width, height, frames, pages, durations, videoDuration, loopCount, orientation, alpha
            case bitsPerComponent, highDynamicRange, colorProfile, bytes, thumbHash, blurHash
        }

        /// Every key is always present; an unknown value is null.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(source, forKey: .source)
            try container.encode(format, forKey: .format)
            try container.encode(width, forKey: .width)
            try container.encode(height, forKey: .height)
            try container.encode(frames, forKey: .frames)
            try container.encode(pages, forKey: .pages)
            try container.encode(durations, forKey: .durations)
            try container.encode(videoDuration, forKey: .videoDuration)
            try container.encode(loopCount, forKey: .loopCount)
            try container.encode(orientation, forKey: .orientation)
            try container.encode(alpha, forKey: .alpha)
            try container.encode(bitsPerComponent, forKey: .bitsPerComponent)
            try container.encode(highDynamicRange, forKey: .highDynamicRange)
            try container.encode(colorProfile, forKey: .colorProfile)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(thumbHash, forKey: .thumbHash)
            try container.encode(blurHash, forKey: .blurHash)
        }
    }

    /// The options with which ``runAtOnce(_:)`` does the same as ``run(_:)``.
    private static let simpleOptions = ["--json", "--quiet", "--page", "--at"]

    /// Identifies one small local file in a built-in format on the calling thread: starting threads takes longer. Returns
    /// nil, and prints nothing, for everything else and when anything fails.
    static func runAtOnce(_ words: [String]) -> Int32? {
        guard words.first == name,
            let arguments = try? ArgumentParser(specs: specs).parse(Array(words.dropFirst())),
            arguments.options.allSatisfy({ simpleOptions.contains($0.name) }),
            let options = try? decodeOptions(arguments, ImageLimits()),
            arguments.positional.count == 1, let source = try? Source(arguments.positional[0]), source.isFile,
            let data = try? FileImageLoader(maximumFileByteCount: 1 << 20).read(source.url, readsParts: true).data
        else { return nil }
        let coder = ImageCodersManager()
        let properties = Result { () throws(WebImageError) in try coder.properties(of: data, limits: options.limits) }
        guard case .success(let properties) = properties else { return nil }
        let image = Result { () throws(WebImageError) in
            try coder.complete(try coder.decode(data, options: options), of: data, options: options)
        }
        guard let line = try? line(properties, image, byteCount: data.count, source, options) else { return nil }
        Terminal.print(arguments.has("--json") ? JSONLine.text(line) : text(line, source))
        return ExitStatus.success
    }

    private static func decodeOptions(_ arguments: ParsedArguments, _ limits: ImageLimits) throws -> ImageDecodeOptions
    {
        var options = ImageDecodeOptions()
        options.limits = limits
        options.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        options.decodeFirstFrameOnly = true
        options.page = try ImageArguments.page(arguments) ?? 0
        options.videoTime = try ImageArguments.videoTime(arguments)
        return options
    }

    static func run(_ arguments: ParsedArguments) async throws -> Int32 {
        let common = try CommonOptions(arguments)
        let decodeOptions = try decodeOptions(arguments, common.policy.limits())
        guard !arguments.positional.isEmpty else { throw UsageError("no source given") }
        let (sources, session) = try await blocking {
            let sources = try arguments.positional.map { try Source($0) }
            return (sources, sources.allSatisfy { isRead($0, common) } ? nil : Session(common))
        }
        let display = ProgressDisplay(total: sources.count, isEnabled: !common.isQuiet)
        let failures = await Loading.forEach(sources, width: common.maxConcurrent) { id, source in
            do throws(WebImageError) {
                let contents = try await contents(of: source, session, common)
                let line = try await describe(contents, source, common.coder, decodeOptions)
                display.finish(id, failed: false)
                await display.print(common.json ? JSONLine.text(line) : text(line, source), to: 1)
                return true
            } catch {
                display.finish(id, failed: true)
                await Loading.report(error, source, json: common.json, display)
                return false
            }
        }
        await display.close()
        return failures == 0 ? ExitStatus.success : ExitStatus.failure
    }

    /// Returns whether a source is read without a manager, whose caches and connections take longer to create than a small file to read.
    private static func isRead(_ source: Source, _ common: CommonOptions) -> Bool {
        source.isFile && common.policy.isTrusted && !common.options.contains(.fromCacheOnly)
    }

    private static func contents(
        of source: Source,
        _ session: Session?,
        _ common: CommonOptions
    ) async throws(WebImageError) -> EncodedContents {
        guard let session, !isRead(source, common) else {
            return try await EncodedContents(source.url, by: FileImageLoader.shared, common.options)
        }
        let context = session.context(for: source)
        // Of a video only parts are read, and no cache has them.
        let isVideo = ImageFormat.videos.contains(ImageFormat(fileExtension: source.url.pathExtension))
        if isVideo, !common.options.contains(.fromCacheOnly) {
            return try await EncodedContents(source.url, by: session.manager.imageLoader, common.options)
        }
        return .data(try await session.manager.data(with: source.url, options: common.options, context: context))
    }

    private static func describe(
        _ contents: EncodedContents,
        _ source: Source,
        _ coder: any ImageCoder,
        _ options: ImageDecodeOptions
    ) async throws(WebImageError) -> Line {
        let properties = try await contents.properties(coder, options.limits)
        let image: Result<Image, WebImageError>
        do throws(WebImageError) {
            image = .success(try await contents.image(coder, options))
        } catch {
            image = .failure(error)
        }
        return try line(properties, image, byteCount: contents.byteCount, source, options)
    }

    private static func line(
        _ properties: ImageProperties,
        _ image: Result<Image, WebImageError>,
        byteCount: Int,
        _ source: Source,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> Line {
        var properties = properties
        // If the header is valid and the pixels are not, there are properties but no hashes.
        var (thumbHash, blurHash): (String?, String?)
        switch image {
        case .success(let image):
            thumbHash = try? ThumbHash(image).base64
            blurHash = try? BlurHash(image).string
            // The header's size is that of the first page.
            if options.page > 0 {
                (properties.width, properties.height) = (image.metadata.sourceWidth, image.metadata.sourceHeight)
            }
        case .failure(let error):
            if options.page > 0 { throw error }
        }
        return Line(
            source: source.text,
            format: "\(properties.format)",
            width: properties.width,
            height: properties.height,
            frames: properties.frameCount,
            pages: properties.pageCount,
            durations: properties.frameDurations,
            videoDuration: properties.videoDuration,
            loopCount: properties.loopCount,
            orientation: properties.orientation.rawValue,
            alpha: properties.hasAlpha,
            bitsPerComponent: properties.bitsPerComponent,
            highDynamicRange: properties.isHighDynamicRange,
            colorProfile: properties.colorProfile,
            bytes: byteCount,
            thumbHash: thumbHash,
            blurHash: blurHash
        )
    }

    private static func text(_ line: Line, _ source: Source) -> String {
        var parts = ["\(source.shortText): \(line.format) \(line.width)x\(line.height)"]
        if line.frames > 1 {
            let seconds = (line.durations.reduce(0, +) * 100).rounded() / 100
            let loops = [0: "forever", 1: "once"][line.loopCount] ?? "\(line.loopCount) times"
            parts.append("\(line.frames) frames in \(seconds) s, \(loops)")
        }
        if let seconds = line.videoDuration { parts.append("\((seconds * 100).rounded() / 100) s") }
        if line.pages > 1 { parts.append("\(line.pages) pages") }
        if line.orientation != 1 { parts.append("orientation \(line.orientation)") }
        if line.alpha { parts.append("alpha") }
        if line.bitsPerComponent != 8 { parts.append("\(line.bitsPerComponent) bits") }
        if line.highDynamicRange { parts.append("high dynamic range") }
        if let profile = line.colorProfile { parts.append("profile '\(Terminal.plain(profile))'") }
        parts.append(ByteCount.describe(Int64(line.bytes)))
        if let hash = line.thumbHash { parts.append("ThumbHash \(hash)") }
        if let hash = line.blurHash { parts.append("BlurHash \(hash)") }
        return parts.dropFirst().reduce(parts[0]) { $0 + ", " + $1 } + "\n"
    }
}
