import FoundationEssentials
import Glibc
import TestSupport
import WebImage
import WebImageHEIF

/// Everything that a coder does with a file, and the consistency of the results.
struct ImageCheck {
    let coder: any ImageCoder
    let data: Data
    /// Follows from the bytes.
    var random: SeededGenerator
    private(set) var options = ImageDecodeOptions()
    /// A Boolean value that indicates whether pixels may be uninitialized memory, as a library leaves them for damaged
    /// files.
    let showsUsedMemory: Bool

    init(
        _ coder: any ImageCoder,
        _ data: Data,
        rawDevelopment: ImageDecodeOptions.RawDevelopment = .preview
    ) {
        self.coder = coder
        // libde265 leaves undecoded pixels as allocated. Only a separate process isolates them.
        // LibRaw does the same with raw data that ends too early, and FFmpeg's decoders may do so.
        let format = ImageFormat(detecting: data)
        showsUsedMemory = coder is HEIFCoder || [.heic, .heif, .raw].contains(format) || format.isVideo
        self.data = data
        random = SeededGenerator(seed: data.withUnsafeBytes { Hashing.xxh3($0) })
        options.limits = Self.limits
        options.rawDevelopment = rawDevelopment
    }

    /// Small, so that an input takes milliseconds.
    static let limits: ImageLimits = {
        var limits = ImageLimits()
        limits.maximumPixelCount = 1 << 16
        limits.maximumSideLength = 1 << 13
        limits.maximumEncodedByteCount = 1 << 20
        limits.maximumDecodedByteCount = 8 << 20
        limits.maximumFrameCount = 40
        limits.maximumScanCount = 20
        limits.maximumColorProfileByteCount = 1 << 16
        return limits
    }()

    mutating func run() throws(FuzzFinding) {
        guard coder.canDecode(data) else {
            // Other coders pass such data on: nothing may be assumed of it.
            _ = try properties()
            return
        }
        let properties = try properties()
        let whole = try decode(options)
        try checkWhole(whole, properties)
        try checkRepetition(whole)
        let varied = variation()
        let small = try decode(varied)
        try checkSize(small, varied)
        try checkProgressive(whole, small, varied)
        try checkAnimation(whole, properties)
    }

    private func properties() throws(FuzzFinding) -> ImageProperties? {
        do throws(WebImageError) {
            let properties = try coder.properties(of: data, limits: options.limits)
            return properties
        } catch {
            try Self.checkCode(error)
            return nil
        }
    }

    private func decode(_ options: ImageDecodeOptions) throws(FuzzFinding) -> Image? {
        do throws(WebImageError) {
            return try coder.decode(data, options: options)
        } catch {
            try Self.checkCode(error)
            return nil
        }
    }

    /// The errors that the protocol promises. Out of memory under such limits would be one.
    static func checkCode(_ error: WebImageError) throws(FuzzFinding) {
        let codes: [WebImageError.Code] = [.badImageData, .limitExceeded, .unsupportedFormat, .previewNotFound]
        try must(codes.contains(error.code), "an error of another kind: \(error)")
    }

    private func checkWhole(_ image: Image?, _ properties: ImageProperties?) throws(FuzzFinding) {
        if let properties { try Self.check(properties, options.limits) }
        guard let image else { return }
        guard let properties else { throw FuzzFinding("pixels without a header") }
        let (width, height) = properties.uprightSize
        // The header of a raw file is about the sensor.
        let isPreview = properties.format == .raw && options.rawDevelopment == .preview
        try must(
            isPreview || (image.pixelWidth, image.pixelHeight) == (width, height),
            "\(image.pixelWidth)x\(image.pixelHeight) pixels for \(width)x\(height)"
        )
        try must(image.pixelByteCount <= options.limits.maximumDecodedByteCount, "more bytes than are allowed")
        try must(image.metadata.frameCount == properties.frameCount, "another number of frames than in the header")
        if let complaint = image.bitmap.complaint { throw FuzzFinding(complaint) }
        let need = try? coder.memoryNeed(of: data, options: options)
        guard let need else { throw FuzzFinding("an image without a cost estimate") }
        try must(need.outputByteCount >= image.pixelByteCount, "less memory is declared than the pixels take")
    }

    private static func check(_ properties: ImageProperties, _ limits: ImageLimits) throws(FuzzFinding) {
        let (width, height) = (properties.width, properties.height)
        try must(width > 0 && height > 0, "a side of the header is below 1")
        // The limits apply to the preview of a raw file, or to its development, not to the header.
        if properties.format != .raw {
            try must(max(width, height) <= limits.maximumSideLength, "a side is over the limit")
            try must(width * height <= limits.maximumPixelCount, "pixels are over the limit")
        }
        try must((1...limits.maximumFrameCount).contains(properties.frameCount), "frames are over the limit")
        try must(properties.loopCount >= 0 && properties.pageCount >= 1, "loops or pages are below the minimum")
        let durations = properties.frameDurations
        try must(durations.isEmpty || durations.count == properties.frameCount, "not a duration for each frame")
        try must(durations.allSatisfy { $0.isFinite && $0 >= 0.011 }, "a frame is shown for \(durations) s")
    }

    /// Decodes once more in memory with other contents: unwritten pixels would show.
    private func checkRepetition(_ image: Image?) throws(FuzzFinding) {
        guard let image, !showsUsedMemory else { return }
        Self.soil(image.pixelByteCount)
        guard let other = try decode(options) else { throw FuzzFinding("a decoded image does not decode again") }
        try must(other.isSame(as: image), "two decodes of the same bytes differ")
    }

    /// Leaves blocks with other bytes in the pool.
    static func soil(_ byteCount: Int) {
        let counts = [byteCount, byteCount * 4 / 3, 1 << 16, 1 << 18]
        let blocks = counts.map { BufferPool.shared.take(byteCount: $0) }
        for (block, count) in zip(blocks, counts) {
            guard let block else { continue }
            memset(block, 0xA5, count)
            BufferPool.shared.give(block, byteCount: count)
        }
    }
}

extension Bitmap {
    /// Invalid pixels of a bitmap; nil when there are none.
    var complaint: String? {
        for y in 0..<height {
            let row = UnsafeRawPointer(mutableRow(y))
            switch pixelFormat {
            case .rgb8: return nil
            case .bgra8Premultiplied:
                let bytes = row.assumingMemoryBound(to: UInt8.self)
                for x in 0..<width where max(bytes[4 * x], bytes[4 * x + 1], bytes[4 * x + 2]) > bytes[4 * x + 3] {
                    return "a colour is brighter than its alpha at \(x), \(y)"
                }
            case .rgbaHalfPremultiplied:
                let halves = row.assumingMemoryBound(to: UInt16.self)
                for index in 0..<(4 * width) where halves[index] & 0x7C00 == 0x7C00 {
                    return "a half float is no number at \(index / 4), \(y)"
                }
            }
        }
        return nil
    }
}
