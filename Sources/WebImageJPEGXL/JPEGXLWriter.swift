import CJPEGXL
import FoundationEssentials
import WebImageCodecs

/// Writes one file with libjxl, frame by frame. For one thread at a time.
final class JPEGXLWriter {
    private let encoder: OpaquePointer
    private let settings: OpaquePointer
    private let hasAlpha: Bool
    private let isAnimated: Bool
    private let chunk: ScratchBuffer
    private var output = Data()

    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``.
    init(
        size: (width: Int, height: Int),
        hasAlpha: Bool,
        options: ImageEncodeOptions,
        animation: JxlAnimationHeader? = nil
    ) throws(WebImageError) {
        self.hasAlpha = hasAlpha
        isAnimated = animation != nil
        chunk = try ScratchBuffer(byteCount: 64 << 10)
        guard let encoder = JxlEncoderCreate(nil) else { throw Self.noMemory }
        // The settings are owned by the encoder.
        guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
            JxlEncoderDestroy(encoder)
            throw Self.noMemory
        }
        (self.encoder, self.settings) = (encoder, settings)
        try describe(size, animation, isLossless: options.isLossless)
        try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, Self.effort))
        if options.isLossless {
            try check(JxlEncoderSetFrameLossless(settings, 1))
        } else {
            let distance = JPEGXLCoder.distance(quality: options.compressionQuality)
            try check(JxlEncoderSetFrameDistance(settings, distance))
        }
    }

    deinit { JxlEncoderDestroy(encoder) }

    /// The effort, 1...9. From here on up libjxl takes more than twice the time for less than 5 % fewer bytes.
    private static let effort: Int64 = 4
    /// The slot in which each frame is kept as reference for the next; 0 keeps none.
    private static let keptFrame: UInt32 = 1

    private static var noMemory: WebImageError { WebImageError(.outOfMemory, "no memory to encode JPEG XL") }

    private func describe(
        _ size: (width: Int, height: Int),
        _ animation: JxlAnimationHeader?,
        isLossless: Bool
    ) throws(WebImageError) {
        var info = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&info)
        info.xsize = UInt32(size.width)
        info.ysize = UInt32(size.height)
        info.bits_per_sample = 8
        info.num_color_channels = 3
        info.num_extra_channels = hasAlpha ? 1 : 0
        info.alpha_bits = hasAlpha ? 8 : 0
        info.uses_original_profile = isLossless ? 1 : 0
        if let animation {
            info.have_animation = 1
            info.animation = animation
        }
        try check(JxlEncoderSetBasicInfo(encoder, &info))
        var color = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&color, 0)
        try check(JxlEncoderSetColorEncoding(encoder, &color))
    }

    /// Encodes a frame.
    ///
    /// - Parameters:
    ///   - area: the place on the previous frame; nil when the frame covers all.
    ///   - duration: in ticks.
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``.
    func add(
        _ rows: EncodableRows,
        area: PixelArea? = nil,
        duration: UInt32 = 0,
        isLast: Bool = true
    ) throws(WebImageError) {
        if isAnimated { try describeFrame(area, duration) }
        // libjxl needs the image in one buffer, of which it makes a copy.
        let bytesPerRow = rows.width * (hasAlpha ? 4 : 3)
        let pixels = try ScratchBuffer(byteCount: bytesPerRow * rows.height)
        var row = 0
        try rows.forEachBlock { (base, stride, count) throws(WebImageError) in
            for index in 0..<count {
                let target = pixels.base + (row + index) * bytesPerRow
                target.copyMemory(from: base + index * stride, byteCount: bytesPerRow)
            }
            row += count
        }
        var format = JxlPixelFormat(
            num_channels: hasAlpha ? 4 : 3,
            data_type: JXL_TYPE_UINT8,
            endianness: JXL_NATIVE_ENDIAN,
            align: 0
        )
        try check(JxlEncoderAddImageFrame(settings, &format, pixels.base, bytesPerRow * rows.height))
        // The last frame is only marked as such if the input is closed before it is written.
        if isLast { JxlEncoderCloseInput(encoder) }
        try drain()
    }

    private func describeFrame(_ area: PixelArea?, _ duration: UInt32) throws(WebImageError) {
        var frame = JxlFrameHeader()
        JxlEncoderInitFrameHeader(&frame)
        frame.duration = duration
        frame.layer_info.save_as_reference = Self.keptFrame
        frame.layer_info.blend_info.blendmode = JXL_BLEND_REPLACE
        if let area {
            frame.layer_info.have_crop = 1
            frame.layer_info.crop_x0 = Int32(area.left)
            frame.layer_info.crop_y0 = Int32(area.top)
            frame.layer_info.xsize = UInt32(area.width)
            frame.layer_info.ysize = UInt32(area.height)
            frame.layer_info.blend_info.source = Self.keptFrame
        }
        try check(JxlEncoderSetFrameHeader(settings, &frame))
        try check(JxlEncoderSetExtraChannelBlendInfo(settings, 0, &frame.layer_info.blend_info))
    }

    /// Returns the encoded file, after its last frame.
    func finish() throws(WebImageError) -> Data {
        try drain()
        return output
    }

    private func drain() throws(WebImageError) {
        while true {
            var next: UnsafeMutablePointer<UInt8>? = chunk.bytes
            var room = chunk.byteCount
            let status = JxlEncoderProcessOutput(encoder, &next, &room)
            output.append(chunk.bytes, count: chunk.byteCount - room)
            if status == JXL_ENC_SUCCESS { return }
            if status != JXL_ENC_NEED_MORE_OUTPUT { try check(status) }
        }
    }

    private func check(_ status: JxlEncoderStatus) throws(WebImageError) {
        guard status != JXL_ENC_SUCCESS else { return }
        let error = JxlEncoderGetError(encoder)
        throw WebImageError(
            error == JXL_ENC_ERR_OOM ? .outOfMemory : .encodingFailed,
            "JPEG XL: the encoder failed (error \(error.rawValue))"
        )
    }
}
