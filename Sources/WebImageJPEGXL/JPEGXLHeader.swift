import CJPEGXL
import FoundationEssentials
import WebImageCodecs

/// The contents of a JPEG XL file except pixels.
struct JPEGXLHeader: Sendable {
    private(set) var properties = ImageProperties(format: .jpegXL, width: 0, height: 0)
    private(set) var isGray = false
    private(set) var isPremultiplied = false
    /// A Boolean value that indicates whether the pixels are stored in the colours that the file names, and not in XYB.
    private(set) var usesOriginalColors = false
    /// The colour space by code points or numbers; nil when a profile defines it.
    private(set) var color: SourceColor?

    /// The maximum number of bytes that libjxl allocates for a decode.
    private(set) var workByteCount = 0

    private var animation: JxlAnimationHeader?
    /// A Boolean value that indicates whether there may be several frames.
    var isAnimated: Bool { animation != nil }

    /// Creates an empty header to be filled by ``read(_:_:_:)``.
    init() {}

    /// Reads the header.
    ///
    /// - Parameter wantsFrames: also read the headers of an animation's frames, at most as many as the limits allow.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    init(_ data: Data, limits: ImageLimits, wantsFrames: Bool) throws(WebImageError) {
        let decoder = try JPEGXLEvents(
            data,
            JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FRAME.rawValue
        )
        while try !read(decoder.next(), decoder, limits) {}
        if wantsFrames, let animation { try readFrames(decoder, animation, limits) }
    }

    /// Reads the data of an event.
    ///
    /// - Returns: whether everything except the frames of an animation has been read.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    mutating func read(
        _ event: JxlDecoderStatus,
        _ decoder: JPEGXLEvents,
        _ limits: ImageLimits
    ) throws(WebImageError) -> Bool {
        switch event {
        case JXL_DEC_BASIC_INFO:
            var info = JxlBasicInfo()
            guard JxlDecoderGetBasicInfo(decoder.decoder, &info) == JXL_DEC_SUCCESS else {
                throw WebImageError(.badImageData, "JPEG XL: the header is damaged")
            }
            try limits.check(width: Int(info.xsize), height: Int(info.ysize))
            read(info)
            return false
        case JXL_DEC_COLOR_ENCODING where properties.width > 0:
            readColor(decoder.decoder, limits)
            return true
        default: throw WebImageError(.badImageData, "JPEG XL: the file has no header")
        }
    }

    /// The memory of libjxl 0.7 for each pixel of XYB colours, as measured: 3 to 20 bytes, depending on the encoding, which no header states. It has
    /// no limit, and most of its memory does not go through a custom allocator.
    private static let bytesOfXYB = 20

    private mutating func read(_ info: JxlBasicInfo) {
        properties.width = Int(info.xsize)
        properties.height = Int(info.ysize)
        properties.orientation = ImageOrientation(rawValue: Int(info.orientation.rawValue)) ?? .up
        properties.hasAlpha = info.alpha_bits > 0
        properties.bitsPerComponent = Int(info.bits_per_sample)
        isGray = info.num_color_channels == 1
        isPremultiplied = info.alpha_bits > 0 && info.alpha_premultiplied != 0
        usesOriginalColors = info.uses_original_profile != 0
        if info.have_animation != 0 { animation = info.animation }
        let colorBytes = usesOriginalColors ? 4 * Int(info.num_color_channels) : Self.bytesOfXYB
        let bytesPerPixel = colorBytes + 4 * Int(info.num_extra_channels)
        let (bytes, overflow) = (properties.width * properties.height).multipliedReportingOverflow(by: bytesPerPixel)
        workByteCount = overflow ? .max : bytes
    }

    private mutating func readColor(_ decoder: OpaquePointer, _ limits: ImageLimits) {
        var encoding = JxlColorEncoding()
        let original = JXL_COLOR_PROFILE_TARGET_ORIGINAL
        if webimage_jxl_get_encoded_profile(decoder, original, &encoding) == JXL_DEC_SUCCESS {
            let color = SourceColor(encoding)
            self.color = color
            properties.isHighDynamicRange = color.isHighDynamicRange
            properties.colorProfile = color.name
        } else if let profile = Self.profile(decoder, original, limits) {
            properties.colorProfile = ColorProfile.name(of: profile, limit: limits.maximumColorProfileByteCount)
        }
    }

    /// Returns the ICC profile; nil without one, or when it is too long.
    static func profile(_ decoder: OpaquePointer, _ target: JxlColorProfileTarget, _ limits: ImageLimits) -> Data? {
        var count = 0
        guard webimage_jxl_get_icc_profile_size(decoder, target, &count) == JXL_DEC_SUCCESS, count > 0,
            count <= limits.maximumColorProfileByteCount
        else { return nil }
        var data = Data(count: count)
        let status = data.withUnsafeMutableBytes { bytes in
            webimage_jxl_get_icc_profile(
                decoder,
                target,
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                bytes.count
            )
        }
        return status == JXL_DEC_SUCCESS ? data : nil
    }

    private mutating func readFrames(
        _ decoder: JPEGXLEvents,
        _ animation: JxlAnimationHeader,
        _ limits: ImageLimits
    ) throws(WebImageError) {
        let ticks = Double(max(animation.tps_numerator, 1)) / Double(max(animation.tps_denominator, 1))
        var durations: [Double] = []
        var isLast = false
        while !isLast {
            guard try decoder.next() == JXL_DEC_FRAME else { break }
            var frame = JxlFrameHeader()
            guard JxlDecoderGetFrameHeader(decoder.decoder, &frame) == JXL_DEC_SUCCESS else { break }
            durations.append(FrameDuration.corrected(Double(frame.duration) / ticks))
            isLast = frame.is_last != 0
            try limits.check(frameCount: durations.count)
        }
        guard !durations.isEmpty else { throw WebImageError(.badImageData, "JPEG XL: the animation has no frames") }
        properties.frameCount = durations.count
        guard durations.count > 1 else { return }
        properties.frameDurations = durations
        properties.loopCount = Int(animation.num_loops)
    }
}

extension SourceColor {
    /// Creates a colour space from libjxl's colour encoding.
    init(_ encoding: JxlColorEncoding) {
        let transfer: Transfer =
            switch encoding.transfer_function {
            case JXL_TRANSFER_FUNCTION_LINEAR: .linear
            case JXL_TRANSFER_FUNCTION_PQ: .pq
            case JXL_TRANSFER_FUNCTION_HLG: .hlg
            case JXL_TRANSFER_FUNCTION_DCI: .gamma(2.6)
            case JXL_TRANSFER_FUNCTION_GAMMA where encoding.gamma > 0.1 && encoding.gamma <= 1:
                .gamma(1 / encoding.gamma)
            default: .sRGB
            }
        guard encoding.color_space == JXL_COLOR_SPACE_RGB else {
            self.init(transfer: transfer, chromaticities: Self.sRGBChromaticities)
            return
        }
        let points = [
            encoding.white_point_xy, encoding.primaries_red_xy, encoding.primaries_green_xy, encoding.primaries_blue_xy,
        ]
        // The file's numbers are rounded; named primaries use their exact numbers.
        let known: Int? =
            switch encoding.primaries {
            case JXL_PRIMARIES_SRGB: 1
            case JXL_PRIMARIES_2100: 9
            case JXL_PRIMARIES_P3: encoding.white_point == JXL_WHITE_POINT_DCI ? 11 : 12
            default: nil
            }
        let isUsual = encoding.white_point == JXL_WHITE_POINT_D65 || known == 11
        if let known, isUsual {
            self.init(primaries: known, transferCharacteristics: 13)
            self.transfer = transfer
        } else {
            self.init(transfer: transfer, chromaticities: points.flatMap { [$0.0, $0.1] })
        }
    }
}
