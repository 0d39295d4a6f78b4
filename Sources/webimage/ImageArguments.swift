import WebImage

/// What is done to a picture on its way: the options of `get` and `prefetch` that shape the result.
struct ImageArguments: Sendable {
    var thumbnail: ImageSize?
    var scaling: ImageDecodeOptions.ScalingQuality = .high
    var transformers: [any ImageTransformer] = []

    static let specs: [OptionSpec] = [
        OptionSpec(
            "--thumbnail",
            short: "-t",
            value: "WxH",
            "decode to fit into W by H pixels, never bigger but for drawings (quick)"
        ),
        OptionSpec(
            "--resize",
            value: "WxH[:MODE]",
            "scale to W by H pixels: fit (with bars, the default), fill, cover"
        ),
        OptionSpec("--scaling", value: "high|fast", "how thumbnails are scaled: Lanczos (default) or box"),
    ]

    init(_ arguments: ParsedArguments) throws {
        for (name, value) in arguments.options {
            switch name {
            case "--thumbnail": thumbnail = try Self.size(value, of: name)
            case "--resize": transformers.append(try Self.resize(value))
            case "--scaling":
                guard let quality = ["high": ImageDecodeOptions.ScalingQuality.high, "fast": .fast][value] else {
                    throw UsageError("--scaling takes high or fast, not '\(value)'")
                }
                scaling = quality
            default: break
            }
        }
    }

    var isEmpty: Bool { thumbnail == nil && transformers.isEmpty }

    func apply(to context: inout WebImageContext) {
        context.thumbnailPixelSize = thumbnail
        var options = ImageDecodeOptions()
        options.scalingQuality = scaling
        context.decodeOptions = options
        if transformers.count == 1 {
            context.imageTransformer = .transformer(transformers[0])
        } else if !transformers.isEmpty {
            context.imageTransformer = .transformer(PipelineTransformer(transformers))
        }
    }

    /// "300x200", or "300" for a square.
    static func size(_ text: String, of option: String) throws -> ImageSize {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        let sides = parts.count == 1 ? [parts[0], parts[0]] : parts
        guard sides.count == 2, let width = sides[0], let height = sides[1], (1...65_535).contains(width),
            (1...65_535).contains(height)
        else { throw UsageError("\(option) takes a size such as 300x200, not '\(text)'") }
        return ImageSize(width: width, height: height)
    }

    private static func resize(_ text: String) throws -> ResizingTransformer {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let modes: [String: ImageScaleMode] = ["fill": .fill, "fit": .aspectFit, "cover": .aspectFill]
        guard parts.count <= 2, let mode = parts.count == 2 ? modes[parts[1]] : .aspectFit else {
            throw UsageError("--resize takes WxH, WxH:fit, WxH:fill or WxH:cover, not '\(text)'")
        }
        return ResizingTransformer(size: try size(parts[0], of: "--resize"), scaleMode: mode)
    }
}

/// How the result is written: format and quality.
struct OutputArguments: Sendable {
    var format: ImageFormat?
    var options = ImageEncodeOptions()
    var isQualityGiven = false
    var output: String?

    static let specs: [OptionSpec] = [
        OptionSpec("--output", short: "-o", value: "FILE|DIR", "where to write; - for standard output"),
        OptionSpec("--format", short: "-f", value: "NAME", "jpeg, png, webp or tiff; else by the output's extension"),
        OptionSpec("--quality", short: "-q", value: "0-100", "of lossy formats; 85 by default"),
        OptionSpec("--lossless", "encode WebP without loss"),
        OptionSpec("--background", value: "#RRGGBB", "what transparent pixels are put on in JPEG; white by default"),
    ]

    init(_ arguments: ParsedArguments) throws {
        output = arguments.value("--output")
        options.compressionQuality = 0.85
        if let quality = try arguments.number("--quality", in: 0...100) {
            options.compressionQuality = quality / 100
            isQualityGiven = true
        }
        options.isLossless = arguments.has("--lossless")
        if let text = arguments.value("--background") { options.backgroundColor = try Self.color(text) }
        if let name = arguments.value("--format") {
            guard let format = Self.format(named: name) else {
                throw UsageError("--format takes jpeg, png, webp or tiff, not '\(name)'")
            }
            self.format = format
        }
    }

    static func format(named name: String) -> ImageFormat? {
        ["jpeg": .jpeg, "jpg": .jpeg, "png": .png, "webp": .webp, "tiff": .tiff, "tif": .tiff][name.lowercased()]
    }

    static func fileExtension(of format: ImageFormat) -> String {
        format == .jpeg ? "jpg" : format == .webp ? "webp" : format == .png ? "png" : format.fileExtension ?? "img"
    }

    private static func color(_ text: String) throws -> ImageEncodeOptions.Color {
        let digits = text.hasPrefix("#") ? String(text.dropFirst()) : text
        guard digits.utf8.count == 6, let value = UInt32(digits, radix: 16) else {
            throw UsageError("--background takes a colour such as #FFFFFF, not '\(text)'")
        }
        return ImageEncodeOptions.Color(
            red: UInt8(value >> 16),
            green: UInt8(value >> 8 & 255),
            blue: UInt8(value & 255)
        )
    }
}
