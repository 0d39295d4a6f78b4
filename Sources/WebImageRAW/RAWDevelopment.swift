import CRAWShims
import WebImageCodecs

/// The development of a raw file.
struct RAWDevelopment {
    private let file: RAWFile
    private let options: ImageDecodeOptions
    private let plan: DecodePlan
    /// Each pixel is made of two by two of the sensor: enough for a thumbnail of half the size.
    private let isHalf: Bool

    /// The bytes of LibRaw's tables, and of its buffers for a part of the image.
    static let tables = 4 << 20
    private static let tiles = 32 << 20

    /// - Throws: ``WebImageError/Code/limitExceeded`` for a size beyond the limits, or if it needs more memory than
    ///   ``ImageLimits/maximumDecodedByteCount``; ``WebImageError/Code/badImageData``.
    init(_ file: RAWFile, _ options: ImageDecodeOptions) throws(WebImageError) {
        (self.file, self.options) = (file, options)
        guard DNGSensorData.hasUsableTiles(file.info) else {
            throw WebImageError(.badImageData, "the raw file is damaged: its tiles are larger than the image")
        }
        let properties = file.properties
        plan = try DecodePlan.make(for: properties, options: options)
        isHalf =
            file.info.is_mosaic && 2 * plan.width <= properties.width && 2 * plan.height <= properties.height
        try options.limits.check(decodedByteCount: developedByteCount)
    }

    private var isWide: Bool { options.keepsHighBitDepth && file.properties.isHighBitDepth }

    /// The size of LibRaw's image; half of an odd size is rounded up.
    private var size: (width: Int, height: Int) {
        let (width, height) = (Int(file.info.width), Int(file.info.height))
        return isHalf ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
    }

    /// The most memory at a time: what unpacking takes, or the sensor's data with an image of four samples of 16 bits, and another one while it is
    /// turned or stretched, and the result.
    private var developedByteCount: Int {
        let pixels = size.width * size.height
        let copies = sensorPixels < Int(file.info.width) * Int(file.info.height) ? 2 : 1
        let developing = sensorByteCount + pixels * 8 * copies + pixels * (isWide ? 6 : 3)
        return max(unpackingByteCount, developing)
    }

    private var sensorPixels: Int { Int(file.info.raw_width) * Int(file.info.raw_height) }

    /// LibRaw's copy of the sensor's data: a sample of 16 bits for each pixel, or four if it has several colours; floats become such samples.
    private var sensorByteCount: Int {
        let info = file.info
        if info.is_float { return sensorPixels * 2 * Int(info.samples) }
        return sensorPixels * (info.colors == 1 ? 2 + Self.planes(of: file.bytes) : 8)
    }

    /// LibRaw decodes CR3 to planes of 16 bits, which it interleaves.
    private static func planes(of bytes: UnsafeRawBufferPointer) -> Int {
        bytes.dropFirst(4).starts(with: "ftypcrx ".utf8) ? 4 : 0
    }

    /// Floats are unpacked to whole tiles, from one compressed tile and one more, and then copied as whole numbers.
    private var unpackingByteCount: Int {
        let info = file.info
        guard info.is_float else { return sensorByteCount }
        func whole(_ length: Int, _ tile: Int) -> Int { tile > 0 ? (length + tile - 1) / tile * tile : length }
        let (width, height) = (max(Int(info.tile_width), 1), Int(info.tile_height))
        let padded = whole(Int(info.raw_width), Int(info.tile_width)) * whole(Int(info.raw_height), height)
        let tile = width * (height + 1)
        return (padded + tile) * 4 * Int(info.samples) + max(file.bytes.count, sensorByteCount)
    }

    var memoryNeed: DecodeMemoryNeed {
        let assembly = AssemblyNeed(
            width: size.width,
            height: size.height,
            layout: isWide ? .rgbaFloat : .rgb8,
            hasTransform: false,
            hasAlpha: false,
            plan: plan,
            options: options
        )
        return DecodeMemoryNeed(assembly, decoder: developedByteCount + Self.tables + Self.tiles)
    }

    func image(_ deadline: DecodeDeadline?) throws(WebImageError) -> Image {
        let pixels = try file.develop(
            isHalf: isHalf,
            bits: isWide ? 16 : 8,
            limits: options.limits,
            deadline: deadline
        )
        let (width, height) = (Int(pixels.width), Int(pixels.height))
        // Sizes of turned sensors are rounded in other ways.
        guard let bytes = pixels.bytes, abs(width - size.width) <= 2, abs(height - size.height) <= 2 else {
            throw WebImageError(.badImageData, "the raw file is damaged: it states different sizes")
        }
        let properties = file.properties
        let isExact = (width, height) == size
        let rows = RAWRows(
            bytes,
            width: width,
            height: height,
            colors: Int(pixels.colors),
            isWide: isWide,
            extent: isHalf && isExact ? (Double(properties.width) / 2, Double(properties.height) / 2) : nil
        )
        let image = try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        withExtendedLifetime(file) {}
        return image
    }
}
