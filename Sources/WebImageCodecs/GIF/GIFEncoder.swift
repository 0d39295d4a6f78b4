import FoundationEssentials
import Glibc

/// Writes the frames of a GIF file, each as the part that has changed. Holds three frames at most.
///
/// Unchanged pixels are written as transparent. A pixel that becomes transparent has to be removed with the frame before: that frame's rectangle is
/// extended to include the pixel, and is cleared at the end of its duration.
///
/// A frame of up to 256 colours keeps them. Otherwise the best colours are chosen and the errors are diffused. Each frame has a local palette unless
/// the first frame's palette has all its colours.
final class GIFEncoder {
    /// Pixels of the file's size that are either opaque or transparent; immutable from here on.
    struct Frame {
        var pixels: Bitmap
        var isOpaque: Bool
        var ticks = 0
    }

    private let width: Int
    private let height: Int
    private let loopCount: Int?
    private var file = GIFFileWriter()
    /// The canvas before the next frame to be written.
    private var canvas: Bitmap
    /// The frame that is written once the next one is known, which determines its disposal.
    private var pending: Frame?
    private var isBegun = false
    private var colors: GIFColorAssignment

    /// - Parameters:
    ///   - loopCount: nil for a still image.
    ///   - colorLimit: the maximum number of colours of a frame, 2...256.
    /// - Throws: ``WebImageError/Code/limitExceeded`` for a size that the format cannot hold, ``WebImageError/Code/outOfMemory``.
    init(width: Int, height: Int, loopCount: Int?, colorLimit: Int) throws(WebImageError) {
        let side = max(width, height)
        guard side <= 65_535 else { throw .limitExceeded("longest side of GIF", allowed: 65_535, required: side) }
        self.width = width
        self.height = height
        self.loopCount = loopCount
        colors = try GIFColorAssignment(limit: colorLimit)
        canvas = try .allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        canvas.clear(whole)
    }

    private var whole: PixelArea { PixelArea(left: 0, top: 0, width: width, height: height) }

    /// Adds a frame.
    func add(_ frame: Frame) throws(WebImageError) {
        if let pending { try write(pending, before: frame.pixels) }
        pending = frame
    }

    func finish() throws(WebImageError) -> Data {
        if let pending { try write(pending, before: nil) }
        pending = nil
        file.end()
        return file.data
    }

    private func write(_ frame: Frame, before next: Bitmap?) throws(WebImageError) {
        let vanishing = next.flatMap { PixelArea.cleared(frame.pixels, $0) }
        var area = PixelArea.difference(canvas, frame.pixels) ?? .corner
        if let vanishing { area = area.union(vanishing) }
        // Programs show the first frame as the still image.
        if !isBegun { area = whole }
        try write(frame, area, disposal: vanishing == nil ? 1 : 2)
        canvas = frame.pixels
        guard vanishing != nil else { return }
        canvas = try frame.pixels.copy()
        canvas.clear(area)
    }

    private func write(_ frame: Frame, _ area: PixelArea, disposal: UInt8) throws(WebImageError) {
        let numbers = try ScratchBuffer(byteCount: area.width * area.height)
        let changes = try frame.pixels.changes(since: canvas, in: area)
        let choice = try colors.assign(
            changes.pixels,
            isComplete: changes.count == area.width * area.height,
            image: frame.isOpaque ? frame.pixels.part(area) : nil,
            to: numbers.bytes
        )
        var (palette, bits) = (choice.palette, choice.bits)
        if !isBegun {
            isBegun = true
            // The shared palette has an index for unchanged pixels.
            let shared = colors.share(leavesRoom: loopCount != nil || choice.clear != nil)
            file.begin(width: width, height: height, palette: shared, loopCount: loopCount)
            (palette, bits) = (nil, shared.bits)
        }
        if loopCount != nil || choice.clear != nil {
            file.control(ticks: frame.ticks, disposal: loopCount == nil ? 0 : disposal, clear: choice.clear)
        }
        try file.frame(numbers.bytes, area, palette: palette, bits: bits)
    }
}

extension Bitmap {
    /// Makes a rectangle transparent.
    fileprivate func clear(_ area: PixelArea) {
        let part = part(area)
        for row in 0..<area.height { memset(part.mutableRow(row), 0, area.width * 4) }
    }
}
