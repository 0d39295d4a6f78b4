// Decodes pictures with a counting malloc, and prints for each, in several ways:
//
//   FILE WAY NEED TAKEN WIDTH HEIGHT     the bytes that the coder said it would take, and those that it took at its peak
//
//   decode-memory FILE…      these files
//   decode-memory made       pictures that it makes itself, in all formats that can be written
//   decode-memory playing    animations that it makes itself, frame by frame in order
//   decode-memory transforming   pictures that it makes itself, in all pixel formats and two orientations, by all transformers
import CHeapCounter
import FoundationEssentials
import Glibc
import TestSupport
import WebImage
import WebImageFormats

#if WEBIMAGE_SVG
    import WebImageSVG

    // What a worker takes is not counted here.
    ImageCodersManager.shared.add(SVGCoder(maximumInProcessByteCount: .max))
#endif
WebImageFormats.registerAll()
let coder = ImageCodersManager.shared

/// What is decoded in which way.
let ways: [(name: String, change: (inout ImageDecodeOptions) -> Void)] = [
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

@MainActor func measure(_ name: String, _ data: Data) {
    for way in ways {
        var options = ImageDecodeOptions()
        way.change(&options)
        // Tables and profiles that are kept once they were made.
        guard (try? coder.decode(data, options: options)) != nil else { continue }
        guard let need = try? coder.memoryNeed(of: data, options: options) else {
            print(name, way.name, "needs nothing known", 0, 0, 0)
            continue
        }
        BufferPool.shared.setCapacity(0)
        let before = bench_heap_bytes()
        bench_heap_reset_peak()
        let image = try? coder.decode(data, options: options)
        let taken = bench_heap_peak_bytes() - before
        print(name, way.name, need.totalByteCount, taken, image?.pixelWidth ?? 0, image?.pixelHeight ?? 0)
        BufferPool.shared.setCapacity(64 << 20)
        fflush(nil)
    }
}

let formats: [(name: String, format: ImageFormat)] = [
    ("jpeg", .jpeg), ("png", .png), ("gif", .gif), ("webp", .webp), ("tiff", .tiff), ("avif", .avif), ("heic", .heic),
    ("jxl", .jpegXL),
]

/// A picture with something to code everywhere.
func drawing(_ width: Int, _ height: Int, hasAlpha: Bool, shift: Int = 0) throws -> Image {
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

@MainActor func makePictures() throws {
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

/// All frames, of which only the one that was made last is kept.
@MainActor func play(_ name: String, _ data: Data) throws {
    for way in ways where !["half", "fast", "timed"].contains(way.name) {
        var options = ImageDecodeOptions()
        way.change(&options)
        // Tables that are kept once they were made.
        _ = try coder.animation(of: data, options: options).frame(at: 0)
        BufferPool.shared.setCapacity(0)
        let before = bench_heap_bytes()
        bench_heap_reset_peak()
        let animation = try AnimatedImage(provider: coder.animation(of: data, options: options))
        let need = animation.frameNeed()
        var frame: Image?
        for index in 0..<animation.frameCount {
            frame = nil
            frame = try animation.frame(at: index)
        }
        // The picture has its first frame.
        let taken = bench_heap_peak_bytes() - before - animation.image.pixelByteCount
        print(
            name,
            way.name,
            need.keptByteCount + need.byteCount,
            taken,
            frame?.pixelWidth ?? 0,
            frame?.pixelHeight ?? 0
        )
        BufferPool.shared.setCapacity(64 << 20)
        fflush(nil)
    }
}

@MainActor func makeAnimations() throws {
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

let box = ImageSize(width: 900, height: 700)
let transformers: [any ImageTransformer] =
    ImageScaleMode.allCases.flatMap { mode in
        [box, ImageSize(width: 90, height: 1500), ImageSize(width: 37, height: 29), ImageSize(width: 2400, height: 60)]
            .map { ResizingTransformer(size: $0, scaleMode: mode) }
    } + [
        CroppingTransformer(rect: ImageRect(x: 10, y: 20, width: 300, height: 80)),
        CroppingTransformer(rect: ImageRect(x: 5000, y: 20, width: 300, height: 80)),
        FlippingTransformer(horizontal: true, vertical: false), FlippingTransformer(horizontal: false, vertical: false),
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

/// What each takes beside the picture that it is given. Those that refuse one take no more than they say either.
@MainActor func transform() throws {
    for format in [PixelFormat.rgb8, .bgra8Premultiplied, .rgbaHalfPremultiplied] {
        for orientation in [ImageOrientation.up, .right] {
            let drawn = try drawing(500, 400, hasAlpha: format == .bgra8Premultiplied)
            let bitmap = try format == .rgbaHalfPremultiplied ? drawn.bitmap.converted(to: format) : drawn.bitmap
            let image = Image(bitmap: bitmap, orientation: orientation)
            for transformer in transformers {
                // Weights and tables that are kept once they were made.
                _ = try? transformer.transform(image)
                BufferPool.shared.setCapacity(0)
                let before = bench_heap_bytes()
                bench_heap_reset_peak()
                let made = try? transformer.transform(image)
                let taken = bench_heap_peak_bytes() - before
                let need = transformer.memoryNeed(of: ImageExtent(image))
                if let made, ImageExtent(made).byteCount > need.output.byteCount {
                    print(transformer.transformerKey, "makes more than it says")
                }
                let name = "\(format)-\(orientation)"
                let key = transformer.transformerKey.filter { $0 != " " }
                print(key, name, need.totalByteCount, taken, made?.pixelWidth ?? 0, made?.pixelHeight ?? 0)
                BufferPool.shared.setCapacity(64 << 20)
            }
        }
    }
}

switch CommandLine.arguments.dropFirst().first {
case "made": try makePictures()
case "transforming": try transform()
case "playing": try makeAnimations()
default:
    for path in CommandLine.arguments.dropFirst() {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { continue }
        measure(String(path.split(separator: "/").suffix(2).joined(separator: "/")), data)
    }
}
