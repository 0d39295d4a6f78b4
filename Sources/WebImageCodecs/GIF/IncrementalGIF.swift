import FoundationEssentials

/// An incremental decoder of GIF.
final class IncrementalGIF: IncrementalImage {
    private let options: ImageDecodeOptions
    private let previews: AnimationPreviews
    private var structure: GIFStructure
    private(set) var properties: ImageProperties?
    private var plan: DecodePlan?
    private var first: FirstFrame?
    /// All bytes so far, for frames that are requested later; empty until there are two frames.
    private var data = Data()

    /// The state of the first frame: being decoded or complete.
    private struct FirstFrame {
        let rows: GIFRowReader
        let table: ScratchBuffer
        var decompressor: GIFDecompressor
        var isDone = false

        init(_ bytes: UnsafeRawBufferPointer, _ structure: GIFStructure, _ limits: ImageLimits) throws(WebImageError) {
            let frame = structure.frames[0]
            rows = try GIFRowReader(bytes, canvasOf: structure, frame: frame, limits: limits) { _ in }
            table = try ScratchBuffer(byteCount: GIFDecompressor.tableByteCount)
            decompressor = try GIFDecompressor(bytes, at: frame.dataOffset)
        }
    }

    init(options: ImageDecodeOptions) {
        self.options = options
        previews = AnimationPreviews(options: options)
        structure = GIFStructure(frameLimit: options.limits.maximumFrameCount)
    }

    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool {
        try data.withBytes { (bytes) throws(WebImageError) in
            try structure.read(bytes, isWhole: isFinished)
            try update(isFinished: isFinished)
            if first == nil, !structure.frames.isEmpty {
                first = try FirstFrame(bytes, structure, options.limits)
            }
            guard var frame = first, !frame.isDone else { return }
            first = nil
            frame.isDone = try frame.decompressor.resume(
                bytes,
                isWhole: isFinished,
                table: frame.table,
                into: frame.rows.numbers
            )
            first = frame
        }
        if structure.completeFrameCount > 1, !isFinished, !options.decodeFirstFrameOnly { self.data = data }
        if isFinished { self.data = Data() }
        return true
    }

    /// Updates the properties and the plan from the blocks read so far.
    private func update(isFinished: Bool) throws(WebImageError) {
        guard structure.width > 0, structure.height > 0 else { return }
        try options.limits.check(width: structure.width, height: structure.height)
        let properties = GIFCoder.properties(structure)
        self.properties = properties
        guard !structure.frames.isEmpty else { return }
        // The byte limit applies to all frames together, so further frames make each smaller.
        let isSettled = isFinished || options.scaleDownLimitBytes == 0
        plan = try DecodePlan.early(for: properties, options: options, isSettled: isSettled)
    }

    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image? {
        guard let properties, let plan, let first, first.decompressor.written > 0 else { return nil }
        let frames = structure.frames.prefix(structure.completeFrameCount)
        return try previews.preview(
            of: AnimationPreviews.File(properties: properties, plan: plan, frameCount: frames.count),
            maximumPixelCount: maximumPixelCount,
            isFirstComplete: first.isDone,
            rows: { () throws(WebImageError) in
                try ReceivedGIFRows(first.rows, numberCount: first.decompressor.written)
            },
            open: { [data] (file, options, former) throws(WebImageError) in
                try GIFCoder.animation(
                    of: data,
                    frames: Array(frames),
                    properties: file,
                    options: options,
                    continuing: former
                )
            }
        )
    }

    func image() throws(WebImageError) -> Image {
        guard let properties, let plan, let first else {
            throw WebImageError(.badImageData, "the GIF file has no image")
        }
        first.rows.rewind()
        return try ImageAssembler.makeImage(from: first.rows, properties: properties, plan: plan, options: options)
    }
}

/// The rows of a partly decoded frame.
private final class ReceivedGIFRows: ReceivedRows {
    private let rows: GIFRowReader
    private let numberCount: Int
    private let pixels: ScratchBuffer
    private var isOpaque: Bool { rows.layout == .rgb8 }

    init(_ rows: GIFRowReader, numberCount: Int) throws(WebImageError) {
        self.rows = rows
        self.numberCount = numberCount
        pixels = try ScratchBuffer(byteCount: rows.width * 4)
    }

    var width: Int { rows.width }
    var height: Int { rows.height }
    var extent: (width: Double, height: Double) { rows.extent }
    /// Opaque rows are written as previews need them, which costs half of writing and converting them.
    var layout: ScanlineLayout { isOpaque ? .bgra8Premultiplied : rows.layout }
    var colorProfile: Data? { nil }

    func row(_ row: Int) -> UnsafePointer<UInt8>? {
        guard rows.isThere(row: row, numberCount: numberCount) else { return nil }
        if isOpaque {
            rows.writeOpaqueBGRA(row: row, to: pixels.base)
        } else {
            rows.write(row: row, to: pixels.base)
        }
        return UnsafePointer(pixels.bytes)
    }
}
