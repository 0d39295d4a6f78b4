import WebImage

/// What is done to a picture on its way: the options of `get` and `prefetch` that shape the result.
struct ImageArguments: Sendable {
    var thumbnail: ImageSize?
    var scaling: ImageDecodeOptions.ScalingQuality = .high
    var transformers: [any ImageTransformer] = []

    static let specs: [OptionSpec] =
        [
            OptionSpec(
                "--thumbnail",
                short: "-t",
                value: "WxH",
                "scale to fit into W by H pixels, never bigger; quickest when it comes first"
            ),
            OptionSpec("--scaling", value: "high|fast", "how such thumbnails are scaled: Lanczos (default) or box"),
        ] + TransformArguments.specs

    init(_ arguments: ParsedArguments) throws {
        for (name, value) in arguments.options {
            switch name {
            case "--thumbnail":
                let box = try Self.size(value, of: name)
                // What comes before everything else is done by the decoder.
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
            default:
                if let transformer = try TransformArguments.transformer(name, value) {
                    transformers.append(transformer)
                }
            }
        }
    }

    var isEmpty: Bool { thumbnail == nil && transformers.isEmpty }

    func apply(to context: inout WebImageContext) {
        context.thumbnailPixelSize = thumbnail
        var options = ImageDecodeOptions()
        options.scalingQuality = scaling
        context.decodeOptions = options
        // Lengths are pixels, also of a picture whose name says that it has two to the point.
        if !transformers.isEmpty { context.imageScaleFactor = 1 }
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
}

/// How the result is written: format and quality.
struct OutputArguments: Sendable {
    var format: ImageFormat?
    var options = ImageEncodeOptions()
    var isQualityGiven = false
    var output: String?

    static let specs: [OptionSpec] = [
        OptionSpec("--output", short: "-o", value: "FILE|DIR", "where to write; - for standard output"),
        OptionSpec("--format", short: "-f", value: "NAME", "jpeg, png or webp; else by the output's extension"),
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
                throw UsageError("--format takes jpeg, png or webp, not '\(name)'")
            }
            self.format = format
        }
    }

    static func format(named name: String) -> ImageFormat? {
        ["jpeg": .jpeg, "jpg": .jpeg, "png": .png, "webp": .webp][name.lowercased()]
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
