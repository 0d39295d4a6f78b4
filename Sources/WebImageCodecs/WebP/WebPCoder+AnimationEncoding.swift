import CWebP
public import FoundationEssentials

extension WebPCoder: AnimatedImageEncoder {
    /// Returns whether the format is WebP.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { format == .webp }

    /// Encodes an animation, lossy by ``ImageEncodeOptions/compressionQuality`` or lossless, with alpha. Each frame stores only the rectangle that
    /// has changed.
    ///
    /// Durations are stored in milliseconds. The rounding error of a frame is carried over to the next, so each begins within a millisecond of its
    /// exact time. Durations are at most 4 h 39 min.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard animation.frameCount > 1, !options.encodeFirstFrameOnly else {
            return try encode(try animation.frame(at: 0), to: format, options: options)
        }
        guard format == .webp else {
            throw WebImageError(.unsupportedFormat, "the WebP coder does not write \(format)")
        }
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try WebPAnimationWriter(EncodableFrames(animation, options: options)).write()
        }
    }
}

/// Writes the frames of an animated WebP in order, holding two of them.
///
/// The library's animation encoder drops frames that equal the one before, which would change frame count and durations, and holds several frames.
private final class WebPAnimationWriter {
    private var frames: EncodableFrames
    private let muxer: OpaquePointer
    private var ticks = FrameTicks(perSecond: 1000, fewest: 11, most: 0xFF_FFFF)

    init(_ frames: EncodableFrames) throws(WebImageError) {
        self.frames = frames
        guard let muxer = WebPMuxNew() else { throw WebImageError(.outOfMemory, "no memory to encode WebP") }
        self.muxer = muxer
    }

    deinit { WebPMuxDelete(muxer) }

    func write() throws(WebImageError) -> Data {
        var shown = try frames.frame(at: 0)
        try WebPCoder.check(width: shown.width, height: shown.height)
        try check(WebPMuxSetCanvasSize(muxer, Int32(shown.width), Int32(shown.height)))
        try add(shown, PixelArea(left: 0, top: 0, width: shown.width, height: shown.height), 0)
        for index in 1..<frames.count {
            let next = try frames.frame(at: index)
            try add(next, after: shown, index)
            shown = next
        }
        var parameters = WebPMuxAnimParams(bgcolor: 0, loop_count: Int32(min(frames.loopCount, 65_535)))
        try check(WebPMuxSetAnimationParams(muxer, &parameters))
        var result = WebPData()
        try check(WebPMuxAssemble(muxer, &result))
        defer { WebPDataClear(&result) }
        guard let bytes = result.bytes else { throw WebImageError(.encodingFailed, "WebP: the muxer wrote no data") }
        return Data(bytes: bytes, count: result.size)
    }

    private func add(_ now: Bitmap, after before: Bitmap, _ index: Int) throws(WebImageError) {
        var area = PixelArea.difference(before, now) ?? .corner
        // Frames have even offsets.
        (area.width, area.height) = (area.width + area.left % 2, area.height + area.top % 2)
        (area.left, area.top) = (area.left - area.left % 2, area.top - area.top % 2)
        let changes = try now.changes(since: before, in: area)
        // Unchanged pixels are dropped only if they are many: the edges cost more than storing a few of them.
        let isSparse = changes.liesOver && changes.count < area.width * area.height * 3 / 4
        try add(now.part(area), area, index, over: isSparse ? changes.pixels : nil)
    }

    /// - Parameter sparse: pixels that give the same result when blended over the frame before; used if they take fewer bytes.
    private func add(
        _ pixels: Bitmap,
        _ area: PixelArea,
        _ index: Int,
        over sparse: Bitmap? = nil
    ) throws(WebImageError) {
        var data = try WebPCoder.encode(EncodableRows(pixels), frames.options)
        var isOver = false
        if let sparse {
            let other = try WebPCoder.encode(EncodableRows(sparse), frames.options)
            if other.count < data.count { (data, isOver) = (other, true) }
        }
        var info = WebPMuxFrameInfo()
        info.x_offset = Int32(area.left)
        info.y_offset = Int32(area.top)
        info.duration = Int32(ticks.ticks(for: frames.animation.duration(at: index)))
        info.id = WEBP_CHUNK_ANMF
        info.dispose_method = WEBP_MUX_DISPOSE_NONE
        info.blend_method = isOver ? WEBP_MUX_BLEND : WEBP_MUX_NO_BLEND
        let status = data.withUnsafeBytes { bytes in
            info.bitstream = WebPData(
                bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                size: bytes.count
            )
            return WebPMuxPushFrame(muxer, &info, 1)
        }
        try check(status)
    }

    private func check(_ status: WebPMuxError) throws(WebImageError) {
        guard status != WEBP_MUX_OK else { return }
        throw WebImageError(
            status == WEBP_MUX_MEMORY_ERROR ? .outOfMemory : .encodingFailed,
            "WebP: muxing the frames failed (code \(status.rawValue))"
        )
    }
}
