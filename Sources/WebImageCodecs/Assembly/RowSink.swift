import CPixels

/// Writes rows in a decoder's layout to a bitmap, converted to its format and rotated upright.
final class RowSink {
    let bitmap: Bitmap
    private let plan: DecodePlan
    private let layout: ScanlineLayout
    private let transform: ColorTransform?
    private let placement: RowPlacement
    /// Finished rows that are buffered and placed together: rotating an image by 90° writes columns, and a block of columns uses the CPU cache better
    /// than one. Nil when rows are written directly.
    private let block: ScratchBuffer?
    private let packed: ScratchBuffer?
    private let blockStride: Int
    private var blockCount = 0
    private var row = 0

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(
        plan: DecodePlan,
        layout: ScanlineLayout,
        transform: ColorTransform?,
        format: PixelFormat
    ) throws(WebImageError) {
        let swaps = plan.orientation.swapsSides
        bitmap = try .allocate(
            width: swaps ? plan.height : plan.width,
            height: swaps ? plan.width : plan.height,
            pixelFormat: format
        )
        self.plan = plan
        self.layout = layout
        self.transform = transform
        placement = RowPlacement(plan: plan, bitmap: bitmap)
        blockStride = (plan.width * format.bytesPerPixel + 63) & ~63
        (block, packed) = try Self.buffers(placement, blockStride, plan, layout, transform)
    }

    /// Creates a sink for the same bitmap, whose next row is `row`.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ other: RowSink, from row: Int) throws(WebImageError) {
        (bitmap, plan, layout, transform) = (other.bitmap, other.plan, other.layout, other.transform)
        (placement, blockStride, self.row) = (other.placement, other.blockStride, row)
        (block, packed) = try Self.buffers(placement, blockStride, plan, layout, transform)
    }

    private static func buffers(
        _ placement: RowPlacement,
        _ blockStride: Int,
        _ plan: DecodePlan,
        _ layout: ScanlineLayout,
        _ transform: ColorTransform?
    ) throws(WebImageError) -> (block: ScratchBuffer?, packed: ScratchBuffer?) {
        let block = placement.isRowByRow ? nil : try ScratchBuffer(byteCount: blockStride * Resampler.blockRows)
        // Colour conversion and grey need an intermediate packed row before BGRA.
        let isPacked = transform != nil || layout == .cmyk8
        return (block, isPacked ? try ScratchBuffer(byteCount: plan.width * 4) : nil)
    }

    /// The row stride with which a decoder may write its rows directly into the bitmap; nil when rows need conversion.
    var directBytesPerRow: Int? {
        let isFinal: Bool
        switch layout {
        case .rgb8: isFinal = transform == nil && bitmap.pixelFormat == .rgb8
        case .bgra8Premultiplied: isFinal = true
        case .gray8, .rgba8, .cmyk8, .rgbaFloat: isFinal = false
        }
        return isFinal && plan.orientation == .up ? bitmap.bytesPerRow : nil
    }

    /// Prepares a row for resizing: straight alpha becomes premultiplied, in sRGB.
    func normalize(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        guard layout == .rgba8 else { return }
        transform?.convert(row, to: row, count: count)
        cpixels_premultiply_rgba_to_bgra(row, row, count)
    }

    /// Writes the next row of the result, from the top; ``normalize(_:count:)`` has been called for `input`.
    func put(_ input: UnsafePointer<UInt8>) {
        guard let block else {
            convert(input, to: placement.address(of: row))
            row += 1
            return
        }
        convert(input, to: block.bytes + blockCount * blockStride)
        blockCount += 1
        if blockCount == Resampler.blockRows { flush() }
    }

    /// Writes the buffered rows.
    func flush() {
        guard let block, blockCount > 0 else { return }
        placement.place(block.bytes, bytesPerRow: blockStride, firstRow: row, count: blockCount)
        row += blockCount
        blockCount = 0
    }

    private func convert(_ input: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>) {
        let count = plan.width
        let isPacked = bitmap.pixelFormat == .rgb8
        switch layout {
        case .rgba8, .bgra8Premultiplied:
            output.update(from: input, count: count * 4)
        case .gray8 where transform == nil:
            isPacked ? cpixels_gray_to_rgb(input, output, count) : cpixels_gray_to_bgra(input, output, count)
        case .rgb8 where transform == nil:
            if isPacked {
                output.update(from: input, count: count * 3)
            } else {
                cpixels_rgb_to_bgra(input, output, count)
            }
        case .gray8, .rgb8, .cmyk8:
            let colors = isPacked ? output : packed?.bytes ?? output
            if let transform {
                transform.convert(input, to: colors, count: count)
            } else {
                cpixels_cmyk_to_rgb(input, colors, count)
            }
            if !isPacked { cpixels_rgb_to_bgra(colors, output, count) }
        // The assembler has converted these to 8 bits.
        case .rgbaFloat: break
        }
    }
}
