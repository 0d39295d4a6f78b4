import CPixels

extension ImageAssembler {
    /// Makes an image of half floats.
    ///
    /// - Throws: the errors of the source, or ``WebImageError/Code/outOfMemory``.
    static func makeHighBitDepthImage(
        from source: any ScanlineSource,
        converter: HighBitDepthConverter,
        properties: ImageProperties,
        plan: DecodePlan,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        let sink = try HalfSink(plan: plan)
        let block = try ScratchBuffer(byteCount: Resampler.blockRows * source.width * 16)
        // Rows are read in blocks: some decoders work in those.
        var waiting = 0
        var read = 0
        func next() throws(WebImageError) -> UnsafeMutablePointer<Float> {
            if waiting == 0 {
                waiting = min(Resampler.blockRows, source.height - read)
                try source.readRows(waiting, into: block.base, bytesPerRow: source.width * 16)
                for row in 0..<waiting {
                    let pixels = block.floats + row * source.width * 4
                    converter.extend(pixels, count: source.width)
                    cpixels_premultiply_floats(pixels, source.width)
                }
            }
            let offset = read % Resampler.blockRows
            read += 1
            waiting -= 1
            return block.floats + offset * source.width * 4
        }
        if source.width == plan.width, source.height == plan.height {
            for _ in 0..<source.height { sink.put(try next()) }
        } else {
            let resampler = FloatResampler(
                from: (source.width, source.height),
                extent: source.extent,
                to: (plan.width, plan.height),
                quality: options.scalingQuality
            )
            try resampler.run { (row) throws(WebImageError) in
                row.update(from: try next(), count: source.width * 4)
            } emit: { (row) throws(WebImageError) in
                sink.put(row)
            }
        }
        sink.flush()
        var metadata = metadata(properties, plan, options)
        metadata.isHighDynamicRange = properties.isHighDynamicRange
        return Image(bitmap: sink.bitmap, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
    }
}

/// Writes premultiplied rows of floats upright into a bitmap of half floats.
final class HalfSink {
    let bitmap: Bitmap
    private let placement: RowPlacement
    private let block: ScratchBuffer
    private let width: Int
    private var row = 0
    private var waiting = 0

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(plan: DecodePlan) throws(WebImageError) {
        let swaps = plan.orientation.swapsSides
        bitmap = try .allocate(
            width: swaps ? plan.height : plan.width,
            height: swaps ? plan.width : plan.height,
            pixelFormat: .rgbaHalfPremultiplied
        )
        width = plan.width
        placement = RowPlacement(plan: plan, bitmap: bitmap)
        block = try ScratchBuffer(byteCount: Resampler.blockRows * width * 8)
    }

    /// Writes the next row, from the top.
    func put(_ floats: UnsafePointer<Float>) {
        let halves = (block.base + waiting * width * 8).assumingMemoryBound(to: UInt16.self)
        cpixels_floats_to_halves(floats, halves, width * 4)
        waiting += 1
        if waiting == Resampler.blockRows { flush() }
    }

    /// Writes the buffered rows.
    func flush() {
        guard waiting > 0 else { return }
        placement.place(block.bytes, bytesPerRow: width * 8, firstRow: row, count: waiting)
        row += waiting
        waiting = 0
    }
}
