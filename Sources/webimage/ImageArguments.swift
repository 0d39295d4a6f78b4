import FoundationEssentials
import WebImage

/// The options of `get` and `prefetch` that process an image.
struct ImageArguments: Sendable {
    var thumbnail: ImageSize?
    var scaling: ImageDecodeOptions.ScalingQuality = .high
    /// The page, counted from 0; nil for the first.
    var page: Int?
    /// The image of a camera's raw file; nil for the embedded preview.
    var rawDevelopment: ImageDecodeOptions.RawDevelopment?
    /// The time of a video's frame in seconds; nil for the first that is not black.
    var videoTime: Double?
    var transformers: [any ImageTransformer] = []

    static let specs: [OptionSpec] =
        [
            OptionSpec(
                "--thumbnail",
                short: "-t",
                value: "WxH",
                "scale down to fit W by H pixels (vector images also up); fastest as the first option"
            ),
            OptionSpec(
                "--scaling",
                value: "high|fast",
                "filter for thumbnails: Lanczos (high, the default) or box (fast)"
            ),
            pageSpec, timeSpec, rawDevelopmentSpec,
        ] + TransformArguments.specs

    static let pageSpec = OptionSpec("--page", value: "N", "page of a PDF document; 1, the first, by default")

    static let rawDevelopmentSpec = OptionSpec(
        "--raw-development",
        value: "preview|full",
        "raw files: decode the embedded preview (the default), or develop them"
    )

    static let timeSpec = OptionSpec(
        "--at",
        value: "SECONDS",
        "time of the frame of a video; by default the first that is not black"
    )

    static func videoTime(_ arguments: ParsedArguments) throws -> Double? {
        try arguments.number("--at", in: 0...1e9)
    }

    static func page(_ arguments: ParsedArguments) throws -> Int? {
        try arguments.integer("--page", in: 1...9_999_999).map { $0 - 1 }
    }

    init(_ arguments: ParsedArguments) throws {
        page = try Self.page(arguments)
        videoTime = try Self.videoTime(arguments)
        for (name, value) in arguments.options {
            switch name {
            case "--thumbnail":
                let box = try Self.size(value, of: name)
                // A thumbnail that is the first option is made by the decoder.
                if thumbnail == nil, transformers.isEmpty {
                    thumbnail = box
                } else {
                    transformers.append(ThumbnailTransformer(box: box))
                }
            case "--scaling":
                guard let quality = ["high": ImageDecodeOptions.ScalingQuality.high, "fast": .fast][value] else {
                    throw UsageError("--scaling takes high or fast, not '\(value)'")
                }
                scaling = quality
            case "--raw-development":
                guard let wanted = ["preview": ImageDecodeOptions.RawDevelopment.preview, "full": .full][value] else {
                    throw UsageError("--raw-development takes preview or full, not '\(value)'")
                }
                rawDevelopment = wanted == .full ? .full : nil
            default:
                if let transformer = try TransformArguments.transformer(name, value) {
                    transformers.append(transformer)
                }
            }
        }
    }

    /// True if the bytes as received are the image.
    var isEmpty: Bool {
        thumbnail == nil && page == nil && videoTime == nil && rawDevelopment == nil && transformers.isEmpty
    }

    func apply(to context: inout WebImageContext) {
        context.thumbnailPixelSize = thumbnail
        context.page = page
        context.rawDevelopment = rawDevelopment
        context.videoTime = videoTime
        var options = ImageDecodeOptions()
        options.scalingQuality = scaling
        context.decodeOptions = options
        // Lengths are in pixels, even if the image's name contains a scale (@2x).
        if !transformers.isEmpty { context.imageScaleFactor = 1 }
        if transformers.count == 1 {
            context.imageTransformer = .transformer(transformers[0])
        } else if !transformers.isEmpty {
            context.imageTransformer = .transformer(PipelineTransformer(transformers))
        }
    }

    /// Parses "300x200", or "300" for a square.
    static func size(_ text: String, of option: String) throws -> ImageSize {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        let sides = parts.count == 1 ? [parts[0], parts[0]] : parts
        guard sides.count == 2, let width = sides[0], let height = sides[1], (1...65_535).contains(width),
            (1...65_535).contains(height)
        else { throw UsageError("\(option) takes a size such as 300x200, not '\(text)'") }
        return ImageSize(width: width, height: height)
    }
}

/// The options for writing the result, such as format and quality.
struct OutputArguments: Sendable {
    var format: ImageFormat?
    var options = ImageEncodeOptions()
    /// True if the image must be encoded even if its bytes have the requested format.
    var changesBytes = false
    var output: String?
    private var overwrites = false

    static let specs: [OptionSpec] = [
        OptionSpec("--output", short: "-o", value: "FILE|DIR", "output file or directory; - for standard output"),
        OptionSpec("--force", "overwrite files in a directory; otherwise existing names get a number"),
        OptionSpec("--format", short: "-f", value: "NAME", "\(formatNames); default: by file extension"),
        OptionSpec("--quality", short: "-q", value: "0-100", "quality of lossy formats; 85 by default"),
        OptionSpec("--lossless", "lossless WebP, AVIF, HEIC and JPEG XL"),
        OptionSpec(
            "--max-file-size",
            value: "BYTES",
            "use the best quality whose file fits this size (200K, 1.5M); an error if none does"
        ),
        OptionSpec("--background", value: "#RRGGBB", "background of transparent pixels in JPEG; white by default"),
        OptionSpec("--first-frame", "write only the first frame of an animation"),
        OptionSpec("--loops", value: "N", "loop count of a written animation; 0 is forever"),
        OptionSpec(
            "--convert-timeout",
            value: "SECONDS",
            "maximum time to convert the frames of an animation; 120 by default, 0 for no limit"
        ),
    ]

    /// The maximum seconds for converting the frames of one animation; nil for no limit.
    var convertTimeout: Double? = 120

    init(_ arguments: ParsedArguments) throws {
        output = arguments.value("--output")
        overwrites = arguments.has("--force")
        options.compressionQuality = 0.85
        if let quality = try arguments.number("--quality", in: 0...100) {
            options.compressionQuality = quality / 100
        }
        options.isLossless = arguments.has("--lossless")
        options.encodeFirstFrameOnly = arguments.has("--first-frame")
        options.loopCount = try arguments.integer("--loops", in: 0...65_535)
        if let seconds = try arguments.number("--convert-timeout", in: 0...86_400) {
            convertTimeout = seconds > 0 ? seconds : nil
        }
        if let text = arguments.value("--max-file-size") { options.maxFileSize = try Self.byteCount(text) }
        changesBytes = arguments.has("--quality") || options.isLossless || options.loopCount != nil
        if let text = arguments.value("--background") { options.backgroundColor = try Self.color(text) }
        if let name = arguments.value("--format") {
            guard let format = Self.format(named: name) else {
                throw UsageError("--format takes \(Self.formatNames), not '\(name)'")
            }
            self.format = format
        }
    }

    /// Returns the output files for these sources.
    func files(for sources: [Source]) throws -> OutputFiles {
        try OutputFiles(output, sources: sources, overwrites: overwrites)
    }

    /// Returns whether an unprocessed image may be written as received.
    func allows(_ data: Data, frames: Int) -> Bool {
        guard !changesBytes, frames == 1 || !options.encodeFirstFrameOnly else { return false }
        return options.maxFileSize == 0 || data.count <= options.maxFileSize
    }

    /// Parses "4096", "200K", "1.5M".
    private static func byteCount(_ text: String) throws -> Int {
        let units: [Character: Double] = ["K": 1024, "M": 1024 * 1024, "G": 1024 * 1024 * 1024]
        let unit = text.last.flatMap { units[Character($0.uppercased())] }
        let number = Double(unit == nil ? text : String(text.dropLast())) ?? .nan
        let bytes = (number * (unit ?? 1)).rounded(.down)
        guard bytes >= 1, bytes <= 1e15 else {
            throw UsageError("--max-file-size takes a number of bytes such as 200K or 1.5M, not '\(text)'")
        }
        return Int(bytes)
    }

    /// The output formats with their names.
    static let formats: [(names: [String], format: ImageFormat)] = [
        (["jpeg", "jpg"], .jpeg), (["png"], .png), (["apng"], .png), (["webp"], .webp), (["gif"], .gif),
        (["bmp"], .bmp), (["tiff", "tif"], .tiff),
        (["avif"], .avif), (["heic"], .heic), (["jxl"], .jpegXL),
    ]

    /// "jpeg, png … or jxl".
    static let formatNames: String = {
        let names = formats.compactMap(\.names.first)
        return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }()

    static func format(named name: String) -> ImageFormat? {
        formats.first { $0.names.contains(name.lowercased()) }?.format
    }

    static func fileExtension(of format: ImageFormat) -> String {
        format == .jpeg ? "jpg" : format == .webp ? "webp" : format == .png ? "png" : format.fileExtension ?? "img"
    }

    private static func color(_ text: String) throws -> ImageColor {
        guard text.utf8.count <= 7, let color = ImageColor(hex: text) else {
            throw UsageError("--background takes a colour such as #FFFFFF, not '\(text)'")
        }
        return color
    }
}
