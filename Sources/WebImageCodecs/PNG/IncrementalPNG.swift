import FoundationEssentials

/// An incremental decoder of PNG.
final class IncrementalPNG: IncrementalImage {
    private let options: ImageDecodeOptions
    private var finder = PNGPixelFinder()
    private(set) var properties: ImageProperties?
    private var work: Work?

    /// The state from the first pixels on.
    private struct Work {
        /// Nil until the size of the decode is certain.
        var plan: DecodePlan?
        let reader: PNGRowReader
        let buffer: RowBuffer
        var isDone = false
    }

    init(options: ImageDecodeOptions) { self.options = options }

    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool {
        if work == nil {
            guard data.count >= PNGPixelFinder.headerByteCount || isFinished else { return true }
            if properties == nil { properties = PNGCoder.properties(try header(of: data), data) }
            let found = try data.withBytes { (bytes) throws(WebImageError) in finder.find(in: bytes) }
            guard found || isFinished else { return true }
            let canBegin = found && !finder.hasOtherFirstFrame
            // The chunks before the pixels are also known for an image without previews.
            if found, !canBegin { properties = PNGCoder.properties(try header(of: data), data) }
            work = canBegin ? try begin(data) : nil
        }
        guard var work else { return false }
        if !work.isDone {
            switch try work.reader.readAvailable(data, isWhole: isFinished, into: work.buffer) {
            case .waits: break
            case .isComplete: work.isDone = true
            case .isStarved: return false
            }
        }
        if isFinished {
            // Chunks after the pixels may change the properties.
            let header = try header(of: data)
            guard header.poster == nil else { return false }
            let properties = properties(header, data, work.reader)
            work.plan = try DecodePlan.make(for: properties, options: options)
            self.properties = properties
        }
        self.work = work
        return true
    }

    private func header(of data: Data) throws(WebImageError) -> PNGHeader {
        try PNGCoder.header(of: data, limits: options.limits)
    }

    private func properties(_ header: PNGHeader, _ data: Data, _ reader: PNGRowReader) -> ImageProperties {
        var properties = PNGCoder.properties(header, data)
        if header.color.coded == nil { properties.colorProfile = reader.profileName ?? properties.colorProfile }
        return properties
    }

    private func begin(_ data: Data) throws(WebImageError) -> Work? {
        let header = try header(of: data)
        let stated = PNGCoder.properties(header, data)
        properties = stated
        // An orientation may follow at the end, and with it swapped sides to fit into a box.
        let isSettled = !options.isThumbnail && options.scaleDownLimitBytes == 0
        let plan = try DecodePlan.early(for: stated, options: options, isSettled: isSettled)
        // Rows of more than 8 bits need much memory, and their conversion also depends on other chunks.
        guard !header.needsHighBitDepthRows, !(options.keepsHighBitDepth && stated.isHighBitDepth) else { return nil }
        let reader = try PNGRowReader(data, header: header, limits: options.limits)
        properties = properties(header, data, reader)
        let kept = RowBuffer.byteCount(width: reader.width, height: reader.height, layout: reader.layout)
        guard kept <= options.limits.maximumDecodedByteCount else { return nil }
        let buffer = try RowBuffer(
            width: reader.width,
            height: reader.height,
            layout: reader.layout,
            colorProfile: reader.colorProfile
        )
        return Work(plan: plan, reader: reader, buffer: buffer)
    }

    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image? {
        guard let properties, let work, let plan = work.plan, work.buffer.rowCount > 0 else { return nil }
        return try ImageAssembler.makePreview(
            of: work.buffer,
            properties: properties,
            plan: plan,
            options: options,
            maximumPixelCount: maximumPixelCount
        )
    }

    func image() throws(WebImageError) -> Image {
        guard let properties, let work, let plan = work.plan else {
            throw WebImageError(.badImageData, "PNG: the data ends too early")
        }
        return try work.buffer.image(properties: properties, plan: plan, options: options)
    }
}

/// Finds the first pixels, reading chunk by chunk as data is received.
private struct PNGPixelFinder {
    /// The number of bytes of the signature and the header chunk.
    static let headerByteCount = 33

    private var offset = headerByteCount
    private var isAnimated = false
    private var hasFrameControl = false

    /// A Boolean value that indicates whether the animation begins with another image than the one that is found.
    var hasOtherFirstFrame: Bool { isAnimated && !hasFrameControl }

    /// Returns whether the pixels are reached: the head of their first chunk is there.
    mutating func find(in bytes: UnsafeRawBufferPointer) -> Bool {
        let reader = ByteReader(bytes)
        while let length = reader.bigEndian32(offset), let type = reader.bigEndian32(offset + 4) {
            switch type {
            case fourCC("IDAT"): return true
            case fourCC("acTL"): isAnimated = true
            case fourCC("fcTL"): hasFrameControl = true
            default: break
            }
            offset += 12 + Int(length)
        }
        return false
    }
}
