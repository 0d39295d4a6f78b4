import CPNGShims
public import FoundationEssentials

extension PNGCoder: AnimatedImageEncoder {
    /// Returns whether the format is PNG.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool { format == .png }

    /// Encodes an animated PNG, losslessly, with alpha. Each frame stores only the rectangle that has changed; programs without animation support
    /// show the first frame.
    ///
    /// Durations are stored as fractions and decode to exactly the same values, up to 65 535 seconds; quality is ignored.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard animation.frameCount > 1, !options.encodeFirstFrameOnly else {
            return try encode(try animation.frame(at: 0), to: format, options: options)
        }
        guard format == .png else { throw WebImageError(.unsupportedFormat, "the PNG coder does not write \(format)") }
        return try options.withinFileSize(isLossless: true) { (options) throws(WebImageError) in
            let writer = try PNGAnimationWriter(EncodableFrames(animation, options: options))
            return try writer.write()
        }
    }
}

/// Writes the frames of an animated PNG in order, holding two of them.
private final class PNGAnimationWriter {
    private var frames: EncodableFrames
    private let writer: OpaquePointer

    init(_ frames: EncodableFrames) throws(WebImageError) {
        self.frames = frames
        guard let writer = webimage_png_writer_create() else {
            throw WebImageError(.outOfMemory, "no memory to encode PNG")
        }
        self.writer = writer
    }

    deinit { webimage_png_writer_destroy(writer) }

    func write() throws(WebImageError) -> Data {
        var shown = try frames.frame(at: 0)
        let isBegun = webimage_png_write_animation(
            writer,
            UInt32(clamping: shown.width),
            UInt32(clamping: shown.height),
            WEBIMAGE_PNG_RGBA,
            UInt32(clamping: frames.count),
            UInt32(Int32(clamping: frames.loopCount))
        )
        try check(isBegun)
        let whole = PixelArea(left: 0, top: 0, width: shown.width, height: shown.height)
        try add(shown, whole, delay(0))
        for index in 1..<frames.count {
            let next = try frames.frame(at: index)
            try add(next, after: shown, delay(index))
            shown = next
        }
        try check(webimage_png_end_animation(writer))
        var count = 0
        guard let bytes = webimage_png_written(writer, &count) else { throw PNGCoder.error(of: writer) }
        return Data(bytes: bytes, count: count)
    }

    private func delay(_ index: Int) -> PNGDelay { PNGDelay(frames.animation.duration(at: index)) }

    /// Adds the changed rectangle: with its pixels, or, if possible and smaller, with only the changed pixels to blend over the frame
    /// before.
    private func add(_ now: Bitmap, after before: Bitmap, _ delay: PNGDelay) throws(WebImageError) {
        let area = PixelArea.difference(before, now) ?? .corner
        try add(now.part(area), area, delay)
        let changes = try now.changes(since: before, in: area)
        guard changes.liesOver, changes.count < area.width * area.height else { return }
        try add(changes.pixels, area, delay, liesOver: true)
        webimage_png_keep_smaller_form(writer)
    }

    private func add(
        _ pixels: Bitmap,
        _ area: PixelArea,
        _ delay: PNGDelay,
        liesOver: Bool = false
    ) throws(WebImageError) {
        var control = webimage_png_frame_control(
            width: UInt32(area.width),
            height: UInt32(area.height),
            left: UInt32(area.left),
            top: UInt32(area.top),
            delay_numerator: delay.numerator,
            delay_denominator: delay.denominator,
            lies_over: liesOver
        )
        try check(webimage_png_begin_frame(writer, &control, liesOver))
        try EncodableRows(pixels).forEachBlock { (base, stride, count) throws(WebImageError) in
            try check(webimage_png_write_rows(writer, base, stride, UInt32(count)))
        }
    }

    private func check(_ isDone: Bool) throws(WebImageError) {
        guard isDone else { throw PNGCoder.error(of: writer) }
    }
}
