import FoundationEssentials
import Glibc
import TestSupport
import WebImage
import WebImageFormats

#if WEBIMAGE_SVG
    import WebImageSVG
#endif
#if WEBIMAGE_RAW
    import WebImageRAW
#endif

/// Decodes images, and prints for each, in several ways:
///
///     FILE WAY NEED TAKEN WIDTH HEIGHT     the bytes that the coder said it would take, and those that it took at its peak
///
///     decode-memory FILE…      these files
///     decode-memory made       images that it makes itself, in all formats that can be written
///     decode-memory playing    animations that it makes itself, frame by frame in order
///     decode-memory developing   raw files that it makes itself, developed
///     decode-memory transforming   images that it makes itself, in all pixel formats and two orientations, by all transformers
enum DecodeMemory {
    private static let coder = ImageCodersManager.shared

    static func run(_ arguments: [String]) throws {
        #if WEBIMAGE_SVG
            // The memory of a worker would not be counted.
            ImageCodersManager.shared.add(SVGCoder(maximumInProcessByteCount: .max))
        #endif
        #if WEBIMAGE_RAW
            ImageCodersManager.shared.add(RAWCoder())
        #endif
        WebImageFormats.registerAll()
        switch arguments {
        case []: throw UsageError()
        case ["made"]: try measureMadeImages()
        case ["transforming"]: try measureTransformers()
        case ["playing"]: try measureAnimations()
        case ["developing"]: for (name, data) in RawFile.all { measure(name, data, developed) }
        default:
            for path in arguments {
                guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { continue }
                measure(String(path.split(separator: "/").suffix(2).joined(separator: "/")), data)
            }
        }
    }

    /// Prints a line at once, so that those before a crash are there.
    private static func printRow(_ name: String, _ way: String, need: Int, taken: Int, of image: Image?) {
        print(name, way, need, taken, image?.pixelWidth ?? 0, image?.pixelHeight ?? 0)
        fflush(nil)
    }

    /// The input and the way of decoding.
    private static let ways: [(name: String, change: @Sendable (inout ImageDecodeOptions) -> Void)] = [
        ("full", { _ in }),
        ("bgra", { $0.pixelFormat = .bgra8Premultiplied }),
        ("hdr", { $0.decodeToHDR = true }),
        ("thumbnail", { $0.thumbnailPixelSize = ImageSize(width: 100, height: 100) }),
        (
            "fast",
            {
                $0.thumbnailPixelSize = ImageSize(width: 100, height: 100)
                $0.scalingQuality = .fast
            }
        ),
        ("timed", { $0.limits.maximumDecodeDuration = 60 }),
        ("half", { $0.scaleDownLimitBytes = 1 << 20 }),
    ]

    private static let developed: [(name: String, change: @Sendable (inout ImageDecodeOptions) -> Void)] = [
        ("full", { $0.rawDevelopment = .full }),
        ("hdr", { ($0.rawDevelopment, $0.decodeToHDR) = (.full, true) }),
        (
            "thumbnail",
            { ($0.rawDevelopment, $0.thumbnailPixelSize) = (.full, ImageSize(width: 100, height: 100)) }
        ),
    ]

    /// Formats that were decoded, and how.
    private static let seen = Lock<Set<String>>([])

    private static func measure(
        _ name: String,
        _ data: Data,
        _ ways: [(name: String, change: @Sendable (inout ImageDecodeOptions) -> Void)] = ways
    ) {
        for way in ways {
            var options = ImageDecodeOptions()
            way.change(&options)
            // Tables that are kept once created.
            let kind = "\(ImageFormat(detecting: data)) \(way.name)"
            if seen.withLock({ $0.insert(kind).inserted }) { _ = try? coder.decode(data, options: options) }
            var (taken, image) = unpooledHeapPeak { try? coder.decode(data, options: options) }
            guard image != nil else { continue }
            guard let need = try? coder.memoryNeed(of: data, options: options) else {
                print(name, way.name, "needs nothing known", 0, 0, 0)
                continue
            }
            if taken > need.totalByteCount {
                // Profiles of this image that are kept once created.
                (taken, image) = unpooledHeapPeak { try? coder.decode(data, options: options) }
            }
            printRow(name, way.name, need: need.totalByteCount, taken: taken, of: image)
        }
    }

    private static let formats: [(name: String, format: ImageFormat)] = [
        ("jpeg", .jpeg), ("png", .png), ("gif", .gif), ("webp", .webp), ("tiff", .tiff), ("avif", .avif),
        ("heic", .heic),
        ("jxl", .jpegXL),
    ]

    /// An image with detail everywhere.
    private static func drawing(_ width: Int, _ height: Int, hasAlpha: Bool, shift: Int = 0) throws -> Image {
        let format: PixelFormat = hasAlpha ? .bgra8Premultiplied : .rgb8
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
        for y in 0..<height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                let alpha = hasAlpha ? (x / 7 + y / 5) & 255 : 255
                let offset = x * format.bytesPerPixel
                for channel in 0..<3 {
                    row[offset + channel] = UInt8((((x + shift) * (channel + 2) + y * y / 64) & 255) * alpha / 255)
                }
                if hasAlpha { row[offset + 3] = UInt8(alpha) }
            }
        }
        return Image(bitmap: bitmap)
    }

    private static func measureMadeImages() throws {
        for (width, height) in [(700, 560), (1200, 110)] {
            for hasAlpha in [false, true] {
                let image = try drawing(width, height, hasAlpha: hasAlpha)
                for (name, format) in formats {
                    var former: Data?
                    for isLossless in [false, true] {
                        var options = ImageEncodeOptions()
                        options.isLossless = isLossless
                        guard let data = try? coder.encode(image, to: format, options: options), data != former else {
                            continue
                        }
                        former = data
                        let suffix = (hasAlpha ? "-alpha" : "") + (isLossless ? "-lossless" : "")
                        measure("\(name)-\(width)x\(height)\(suffix)", data)
                    }
                }
            }
        }
        measure("grey-png", Data(PNGBomb.make(width: 3000, height: 3000)))
    }

    /// All frames, of which only the last one is kept.
    private static func play(_ name: String, _ data: Data) throws {
        for way in ways where !["half", "fast", "timed"].contains(way.name) {
            var options = ImageDecodeOptions()
            way.change(&options)
            // Tables that are kept once created.
            _ = try coder.animation(of: data, options: options).frame(at: 0)
            var frame: Image?
            let (peak, (animation, need)) = try unpooledHeapPeak {
                let animation = try AnimatedImage(provider: coder.animation(of: data, options: options))
                let need = animation.frameNeed()
                for index in 0..<animation.frameCount {
                    frame = nil
                    frame = try animation.frame(at: index)
                }
                return (animation, need)
            }
            // The image has its first frame.
            let taken = peak - animation.image.pixelByteCount
            printRow(name, way.name, need: need.keptByteCount + need.byteCount, taken: taken, of: frame)
        }
    }

    private static func measureAnimations() throws {
        for hasAlpha in [false, true] {
            let frames = try (0..<9).map { index in
                ImageFrame(image: try drawing(240, 192, hasAlpha: hasAlpha, shift: index * 3), duration: 0.1)
            }
            guard let animation = ImageFrameSequence(frames: frames) else { continue }
            for (name, format) in formats {
                for isLossless in [false, true] {
                    var options = ImageEncodeOptions()
                    options.isLossless = isLossless
                    guard let data = try? coder.encode(animation, to: format, options: options),
                        (try? coder.properties(of: data, limits: ImageLimits()))?.frameCount == 9
                    else { continue }
                    try play("\(name)\(hasAlpha ? "-alpha" : "")\(isLossless ? "-lossless" : "")", data)
                }
            }
        }
    }

    private static let box = ImageSize(width: 900, height: 700)
    private static let transformers: [any ImageTransformer] =
        ImageScaleMode.allCases.flatMap { mode in
            [
                box, ImageSize(width: 90, height: 1500), ImageSize(width: 37, height: 29),
                ImageSize(width: 2400, height: 60),
            ]
            .map { ResizingTransformer(size: $0, scaleMode: mode) }
        } + [
            CroppingTransformer(rect: ImageRect(x: 10, y: 20, width: 300, height: 80)),
            CroppingTransformer(rect: ImageRect(x: 5000, y: 20, width: 300, height: 80)),
            FlippingTransformer(horizontal: true, vertical: false),
            FlippingTransformer(horizontal: false, vertical: false),
            RotationTransformer(angle: .pi / 2), RotationTransformer(angle: .pi / 2, fitSize: false),
            RotationTransformer(angle: .pi), RotationTransformer(angle: 0.5),
            RotationTransformer(angle: 0.5, fitSize: false),
            RoundCornerTransformer(radius: 20), RoundCornerTransformer(radius: 0),
            RoundCornerTransformer(radius: 30, borderWidth: 3, borderColor: .black),
            TintTransformer(color: ImageColor(red: 1, green: 0.5, blue: 0, alpha: 0.5)),
            TintTransformer(color: ImageColor(red: 1, green: 0.5, blue: 0), blendMode: .multiply),
            TintTransformer(color: ImageColor(red: 1, green: 0.5, blue: 0, alpha: 0.5), blendMode: .hue),
            BlurTransformer(radius: 3), BlurTransformer(radius: 80), BlurTransformer(radius: 0),
            ColorMatrixTransformer(matrix: .identity), ColorMatrixTransformer(matrix: .grayscale),
            FilterTransformer(name: "copy") { image throws(WebImageError) in
                try image.cropped(to: ImageRect(x: 0, y: 0, width: image.size.width, height: image.size.height))
            },
            PipelineTransformer([
                ResizingTransformer(size: box, scaleMode: .aspectFit), RotationTransformer(angle: 1),
                CroppingTransformer(rect: ImageRect(x: 0, y: 0, width: 50, height: 50)),
            ]),
        ]

    /// The memory of each transformer beside its input image. Those that refuse one take no more than their estimate
    /// either.
    private static func measureTransformers() throws {
        for format in [PixelFormat.rgb8, .bgra8Premultiplied, .rgbaHalfPremultiplied] {
            for orientation in [ImageOrientation.up, .right] {
                let drawn = try drawing(500, 400, hasAlpha: format == .bgra8Premultiplied)
                let bitmap = try format == .rgbaHalfPremultiplied ? drawn.bitmap.converted(to: format) : drawn.bitmap
                let image = Image(bitmap: bitmap, orientation: orientation)
                for transformer in transformers {
                    // Weights and tables that are kept once created.
                    _ = try? transformer.transform(image)
                    let (taken, made) = unpooledHeapPeak { try? transformer.transform(image) }
                    let need = transformer.memoryNeed(of: ImageExtent(image))
                    if let made, ImageExtent(made).byteCount > need.output.byteCount {
                        print(transformer.transformerKey, "makes more than it says")
                    }
                    let key = transformer.transformerKey.filter { $0 != " " }
                    printRow(key, "\(format)-\(orientation)", need: need.totalByteCount, taken: taken, of: made)
                }
            }
        }
    }
}
