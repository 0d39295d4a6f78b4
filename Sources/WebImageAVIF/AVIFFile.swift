import CAVIF
import FoundationEssentials
import WebImageCodecs

/// An opened AVIF file. For one thread at a time; the bytes must stay at their address as long as it lives.
final class AVIFFile {
    private let decoder: UnsafeMutablePointer<avifDecoder>
    private let limits: ImageLimits
    /// The maximum number of bytes of planes for an image or frame, by its bitstream header.
    private let codedByteCount: Int
    /// The maximum number of pixels, by the bitstream headers.
    private let codedPixelCount: Int
    /// A Boolean value that indicates whether the codec applies film grain, which needs separate planes.
    private let hasGrain: Bool
    /// The number of coded images, including each tile of a grid. libavif creates a codec for each.
    private let codedCount: Int
    /// The repaired copy of the file that is read, if any.
    private let repaired: ScratchBuffer?
    private let repairedByteCount: Int
    let properties: ImageProperties
    /// The visible part of the stored image.
    let crop: avifCropRect
    /// The ICC profile, unless code points have precedence.
    let colorProfile: Data?
    let color: SourceColor

    /// The image, or the last decoded frame.
    var image: UnsafeMutablePointer<avifImage> { decoder.pointee.image }

    /// Reads the boxes.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    init(_ file: UnsafeRawBufferPointer, limits: ImageLimits) throws(WebImageError) {
        var bytes = file
        if let copy = AVIFRepair(file).file {
            let buffer = try ScratchBuffer(byteCount: copy.count)
            let target = UnsafeMutableRawBufferPointer(start: buffer.base, count: copy.count)
            target.copyBytes(from: copy)
            bytes = UnsafeRawBufferPointer(target)
            (repaired, repairedByteCount) = (buffer, copy.count)
        } else {
            (repaired, repairedByteCount) = (nil, 0)
        }
        (codedByteCount, codedPixelCount, hasGrain, codedCount) = try Self.coded(bytes, limits)
        guard let decoder = avifDecoderCreate() else {
            throw WebImageError(.outOfMemory, "no memory to decode AVIF")
        }
        do throws(WebImageError) {
            try Self.parse(bytes, decoder, limits)
            let image = decoder.pointee.image.pointee
            crop = Self.crop(image)
            color = SourceColor(
                primaries: Int(image.colorPrimaries),
                transferCharacteristics: Int(image.transferCharacteristics)
            )
            colorProfile = color.isHighDynamicRange ? nil : Self.profile(image, limits)
            properties = try Self.properties(decoder.pointee, crop, color, colorProfile, ByteReader(bytes), limits)
        } catch {
            avifDecoderDestroy(decoder)
            throw error
        }
        self.decoder = decoder
        self.limits = limits
    }

    deinit { avifDecoderDestroy(decoder) }

    /// Reads the sizes in the bitstream headers: libavif trusts the boxes, and scales images down that turn out to be larger.
    private static func coded(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageLimits
    ) throws(WebImageError) -> (byteCount: Int, pixelCount: Int, hasGrain: Bool, count: Int) {
        let images = try ISOImages(ByteReader(bytes), types: [fourCC("av01")])
        var (most, pixels) = (0, 0)
        var hasGrain = false
        for sample in images.samples {
            try images.withBytes(of: sample) { (bytes) throws(WebImageError) in
                for header in AV1Sequence.headers(in: bytes) {
                    try limits.check(width: header.width, height: header.height)
                    most = max(most, header.planeByteCount)
                    pixels = max(pixels, header.width * header.height)
                    if header.hasGrain { hasGrain = true }
                }
            }
        }
        return (most, pixels, hasGrain, images.itemTypes.values.count { $0 == fourCC("av01") })
    }

    /// The number of bytes of the planes into which libavif decodes.
    private var planeByteCount: Int {
        planeByteCount(pixels: Int(image.pointee.width) * Int(image.pointee.height))
    }

    private func planeByteCount(pixels: Int) -> Int {
        let frame = image.pointee
        let halves =
            switch frame.yuvFormat {
            case AVIF_PIXEL_FORMAT_YUV400: 2
            case AVIF_PIXEL_FORMAT_YUV420: 3
            case AVIF_PIXEL_FORMAT_YUV422: 4
            default: 6
            }
        return pixels * (halves + (properties.hasAlpha ? 2 : 0)) / 2 * (frame.depth > 8 ? 2 : 1)
    }

    /// The number of bytes that libavif and the codec need for a frame.
    var memoryNeed: Int {
        frameByteCount + (1 << 20) + 2 * repairedByteCount + (mostThreads - 1) * codedCount * Self.codecByteCount
    }

    /// The part of that memory which depends on sizes and counts: planes, planes of all tiles of a grid, planes with film grain, the codec's block
    /// data, and codecs beyond one for colours and one for alpha.
    private var frameByteCount: Int {
        let (planes, coded) = (planeByteCount, codedByteCount)
        let pixels = Int(image.pointee.width) * Int(image.pointee.height)
        let grain = hasGrain ? max(planes, coded) : 0
        // Colours and alpha are coded separately.
        let alpha = properties.hasAlpha ? pixels * (image.pointee.depth > 8 ? 2 : 1) : 0
        let tiles = coded + alpha < planes ? planes : 0
        return max(planes, coded) + tiles + grain + max(pixels, codedPixelCount) * 3 / 4
            + max(codedCount - 2, 0) * Self.codecByteCount
    }

    /// The memory of libavif 0.11 and dav1d 1.0 for each tile of any size, measured as 418 000 bytes and rounded up.
    private static let codecByteCount = 448 << 10

    /// The number of bytes of reference frames that the codec keeps, at their maximum number, in whole blocks, with its data about them. Alpha has a
    /// separate codec.
    var keptByteCount: Int {
        let (width, height) = (Int(image.pointee.width), Int(image.pointee.height))
        let planes = planeByteCount(pixels: ((width + 127) & ~127) * ((height + 127) & ~127))
        return 8 * max(planes, codedByteCount) + (properties.hasAlpha ? 2 : 1) * (width * height + (1 << 20))
    }

    /// Checks the memory of a decode against the limits.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    func checkBeforeDecoding() throws(WebImageError) {
        try limits.check(decodedByteCount: frameByteCount)
    }

    /// Decodes a frame, after the frames before it: from the last decoded frame on, or from the nearest key frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func decode(_ index: Int) throws(WebImageError) {
        try checkBeforeDecoding()
        let result = isThreaded ? decodeStill() : avifDecoderNthImage(decoder, UInt32(clamping: index))
        guard result == AVIF_RESULT_OK else { throw Self.error(result, decoder) }
        // The decode was planned for the size in the boxes.
        guard Int(crop.x) + Int(crop.width) <= Int(image.pointee.width),
            Int(crop.y) + Int(crop.height) <= Int(image.pointee.height)
        else { throw WebImageError(.badImageData, "AVIF: a frame's size differs from the image's") }
    }

    /// False for sequences, whose frames are decoded in advance, and for grids of many tiles, each of which has a codec with threads.
    private var isThreaded: Bool { properties.frameCount == 1 && codedCount <= 16 }

    private var mostThreads: Int { isThreaded ? CodingQueue.mostThreads(forPixelCount: codedPixelCount) : 1 }

    private func decodeStill() -> avifResult {
        CodingQueue.withThreads(forPixelCount: codedPixelCount) { count in
            guard count > 1 else { return avifDecoderNthImage(decoder, 0) }
            let result = decodeStill(threadCount: count)
            // Damaged, or the system had no thread.
            return result == AVIF_RESULT_OK ? result : decodeStill(threadCount: 1)
        }
    }

    private func decodeStill(threadCount: Int) -> avifResult {
        decoder.pointee.maxThreads = Int32(threadCount)
        // Codecs were created for another number when the boxes were parsed.
        let result = avifDecoderReset(decoder)
        return result == AVIF_RESULT_OK ? avifDecoderNthImage(decoder, 0) : result
    }

    private static let largestPixelCount: UInt32 = 16_384 * 16_384
    private static let largestSide: UInt32 = 65_536
    private static let mostFrames = 100_000

    private static func parse(
        _ bytes: UnsafeRawBufferPointer,
        _ decoder: UnsafeMutablePointer<avifDecoder>,
        _ limits: ImageLimits
    ) throws(WebImageError) {
        // The fastest decoder, if there is a choice.
        let canUseDav1d =
            avifCodecName(AVIF_CODEC_CHOICE_DAV1D, avifCodecFlags(AVIF_CODEC_FLAG_CAN_DECODE.rawValue)) != nil
        if canUseDav1d { decoder.pointee.codecChoice = AVIF_CODEC_CHOICE_DAV1D }
        decoder.pointee.maxThreads = 1
        decoder.pointee.ignoreExif = 1
        decoder.pointee.ignoreXMP = 1
        // Some writers omit properties that only few readers need.
        decoder.pointee.strictFlags = avifStrictFlags(AVIF_STRICT_DISABLED.rawValue)
        decoder.pointee.imageSizeLimit = largestPixelCount
        decoder.pointee.imageDimensionLimit = largestSide
        decoder.pointee.imageCountLimit = UInt32(max(mostFrames, min(limits.maximumFrameCount, Int(Int32.max))))
        try open(bytes, decoder)
        let image = decoder.pointee.image.pointee
        try limits.check(width: Int(image.width), height: Int(image.height))
        // The size in the boxes may be smaller than that of the coded image.
        guard limits.maximumPixelCount < 16_383 * 16_383 || limits.maximumSideLength < 16_383 else { return }
        decoder.pointee.imageSizeLimit = UInt32(min(max(limits.maximumPixelCount, 1), Int(largestPixelCount)))
        decoder.pointee.imageDimensionLimit = UInt32(min(max(limits.maximumSideLength, 1), Int(largestSide)))
        try open(bytes, decoder)
    }

    private static func open(
        _ bytes: UnsafeRawBufferPointer,
        _ decoder: UnsafeMutablePointer<avifDecoder>
    ) throws(WebImageError) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var result = avifDecoderSetIOMemory(decoder, start, bytes.count)
        if result == AVIF_RESULT_OK { result = avifDecoderParse(decoder) }
        guard result == AVIF_RESULT_OK else { throw error(result, decoder) }
        guard decoder.pointee.imageCount > 0, decoder.pointee.image != nil else {
            throw WebImageError(.badImageData, "AVIF: the file has no image")
        }
    }

    private static func error(_ result: avifResult, _ decoder: UnsafeMutablePointer<avifDecoder>) -> WebImageError {
        let details = withUnsafeBytes(of: decoder.pointee.diag.error) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let message = "AVIF: \(String(cString: avifResultToString(result)))" + (details.isEmpty ? "" : " (\(details))")
        switch result {
        case AVIF_RESULT_OUT_OF_MEMORY: return WebImageError(.outOfMemory, message)
        // libavif has no result code for its limits.
        case _ where details.contains("too large"): return WebImageError(.limitExceeded, message)
        default: return WebImageError(.badImageData, message)
        }
    }

    private static func has(_ transform: avifTransformFlag, _ image: avifImage) -> Bool {
        image.transformFlags & UInt32(transform.rawValue) != 0
    }

    /// Returns the crop rectangle; the whole image if the file has none, or an invalid one.
    private static func crop(_ image: avifImage) -> avifCropRect {
        let all = avifCropRect(x: 0, y: 0, width: image.width, height: image.height)
        guard has(AVIF_TRANSFORM_CLAP, image) else { return all }
        var (crop, clap, diagnostics) = (all, image.clap, avifDiagnostics())
        let isValid = avifCropRectConvertCleanApertureBox(
            &crop,
            &clap,
            image.width,
            image.height,
            image.yuvFormat,
            &diagnostics
        )
        return isValid != 0 && crop.width > 0 && crop.height > 0 ? crop : all
    }

    private static func orientation(_ image: avifImage) -> ImageOrientation {
        let angle = has(AVIF_TRANSFORM_IROT, image) ? Int(image.irot.angle & 3) : 0
        let turned: [ImageOrientation] = [.up, .left, .down, .right]
        guard has(AVIF_TRANSFORM_IMIR, image) else { return turned[angle] }
        // First the image is rotated, anticlockwise, then mirrored.
        let swapped: [ImageOrientation] = [.downMirrored, .leftMirrored, .upMirrored, .rightMirrored]
        let mirrored: [ImageOrientation] = [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored]
        return webimage_avif_mirror_axis(image.imir) == 0 ? swapped[angle] : mirrored[angle]
    }

    private static func profile(_ image: avifImage, _ limits: ImageLimits) -> Data? {
        guard let bytes = image.icc.data, image.icc.size > 0, image.icc.size <= limits.maximumColorProfileByteCount
        else {
            return nil
        }
        return Data(bytes: bytes, count: image.icc.size)
    }

    private static func properties(
        _ decoder: avifDecoder,
        _ crop: avifCropRect,
        _ color: SourceColor,
        _ profile: Data?,
        _ bytes: ByteReader,
        _ limits: ImageLimits
    ) throws(WebImageError) -> ImageProperties {
        let image = decoder.image.pointee
        var properties = ImageProperties(format: .avif, width: Int(crop.width), height: Int(crop.height))
        properties.orientation = orientation(image)
        properties.hasAlpha = decoder.alphaPresent != 0
        properties.bitsPerComponent = Int(image.depth)
        properties.isHighDynamicRange = color.isHighDynamicRange
        properties.colorProfile =
            profile.map { ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount) } ?? color.name
        properties.frameCount = Int(decoder.imageCount)
        guard properties.frameCount > 1 else { return properties }
        let timetable = AVIFTimetable(bytes, frameCount: min(properties.frameCount, limits.maximumFrameCount))
        properties.frameDurations = timetable.durations
        properties.loopCount = timetable.loopCount
        return properties
    }
}
