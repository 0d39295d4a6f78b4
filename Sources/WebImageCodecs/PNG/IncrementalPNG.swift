import FoundationEssentials

/// An incremental decoder of PNG, and of the frames of an animated PNG.
///
/// The rows of the first frame are decoded as they arrive. Further frames are found as their chunks arrive, and decoded when a preview's animation
/// requests them.
final class IncrementalPNG: IncrementalImage {
    /// The number of bytes of the signature and the header chunk.
    private static let headerByteCount = 33

    private let options: ImageDecodeOptions
    private let previews: AnimationPreviews
    private var header: PNGHeader?
    private(set) var properties: ImageProperties?
    private var plan: DecodePlan?
    private var work: Work?
    /// A Boolean value that indicates whether ``begin(_:)`` was called, at the first pixels. If ``work`` is still nil then, rows cannot be decoded as
    /// they arrive.
    private var hasTriedRows = false
    /// All bytes so far, for frames that are requested later; empty until they are needed.
    private var data = Data()

    /// The state of the rows.
    private struct Work {
        let reader: PNGRowReader
        let buffer: RowBuffer
        var isDone = false
    }

    init(options: ImageDecodeOptions) {
        self.options = options
        previews = AnimationPreviews(options: options)
    }

    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool {
        guard data.count >= Self.headerByteCount || isFinished else { return true }
        let hasPixels = try data.withBytes { (bytes) throws(WebImageError) in
            try read(bytes, data, isFinished: isFinished)
        }
        if work == nil, !hasTriedRows, hasPixels { try begin(data) }
        guard var work else {
            // The frames of an animation can be shown once they are complete.
            guard hasPixels, !isFinished else { return !isFinished }
            try updatePlan(isFinished: false)
            guard let header, header.animation.isRunning, !options.decodeFirstFrameOnly else { return false }
            self.data = header.animation.frames.isEmpty ? Data() : data
            return true
        }
        if !work.isDone {
            let hasAllPixels = completeFrameCount > 0
            switch try work.reader.readAvailable(
                data,
                isWhole: isFinished,
                hasAllPixels: hasAllPixels,
                into: work.buffer
            ) {
            case .waits: break
            case .isComplete: work.isDone = true
            case .isStarved: return false
            }
        }
        self.work = work
        // Chunks after the pixels may change the properties.
        if isFinished, header?.poster != nil { return false }
        try updatePlan(isFinished: isFinished)
        let showsFrames = completeFrameCount > 1 && !isFinished && !options.decodeFirstFrameOnly
        self.data = showsFrames ? data : Data()
        return true
    }

    /// Reads the chunks that have arrived.
    ///
    /// - Returns: whether the pixels are reached.
    private func read(
        _ bytes: UnsafeRawBufferPointer,
        _ data: Data,
        isFinished: Bool
    ) throws(WebImageError) -> Bool {
        var header: PNGHeader
        if let known = self.header {
            header = known
        } else {
            header = try PNGHeader(beginning: bytes, limits: options.limits)
        }
        let former = (header.animation.frames.count, header.animation.isCut)
        // The header is changed in place.
        self.header = nil
        header.read(bytes, isWhole: isFinished)
        let hasPixels = header.hasReachedPixels(bytes)
        let isNew = (header.animation.frames.count, header.animation.isCut) != former
        let isBeginning = properties == nil || hasPixels && work == nil && !hasTriedRows
        if isNew || isBeginning || isFinished { properties = properties(header, data) }
        self.header = header
        return hasPixels
    }

    private var completeFrameCount: Int { header?.animation.frames.count ?? 0 }

    private func properties(_ header: PNGHeader, _ data: Data) -> ImageProperties {
        var properties = PNGCoder.properties(header, data)
        if header.color.coded == nil, let work {
            properties.colorProfile = work.reader.profileName ?? properties.colorProfile
        }
        return properties
    }

    /// Updates the plan. A byte limit applies to all frames together, so the plan depends on their number.
    private func updatePlan(isFinished: Bool) throws(WebImageError) {
        guard let properties else { return }
        guard !isFinished else {
            plan = try DecodePlan.make(for: properties, options: options)
            return
        }
        // An orientation after the pixels may swap the sides that must fit into a box, and further frames change the size under a byte limit.
        let isSettled = !options.isThumbnail && options.scaleDownLimitBytes == 0
        plan = try DecodePlan.early(for: properties, options: options, isSettled: isSettled)
    }

    /// Begins to decode the rows, if that is possible in parts.
    private func begin(_ data: Data) throws(WebImageError) {
        hasTriedRows = true
        guard let header, let stated = properties, !header.animation.beginsWithOtherImage else { return }
        try updatePlan(isFinished: false)
        // Rows of more than 8 bits need much memory, and their conversion also depends on other chunks.
        guard !header.needsHighBitDepthRows, !(options.keepsHighBitDepth && stated.isHighBitDepth) else { return }
        let reader = try PNGRowReader(data, header: header, limits: options.limits)
        let kept = RowBuffer.byteCount(width: reader.width, height: reader.height, layout: reader.layout)
        guard kept <= options.limits.maximumDecodedByteCount else { return }
        let buffer = try RowBuffer(
            width: reader.width,
            height: reader.height,
            layout: reader.layout,
            colorProfile: reader.colorProfile
        )
        work = Work(reader: reader, buffer: buffer)
        properties = properties(header, data)
    }

    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image? {
        guard let properties, let header, let plan else { return nil }
        let file = AnimationPreviews.File(properties: properties, plan: plan, frameCount: completeFrameCount)
        let open: AnimationPreviews.Open = { [data] (file, options, former) throws(WebImageError) in
            try PNGCoder.composed(data, header, file, options, continuing: former)
        }
        guard let work else {
            return try previews.preview(of: file, maximumPixelCount: maximumPixelCount, open: open)
        }
        guard work.buffer.rowCount > 0 else { return nil }
        return try previews.preview(
            of: file,
            maximumPixelCount: maximumPixelCount,
            isFirstComplete: work.isDone || file.frameCount > 0 && work.buffer.rowCount == work.buffer.height,
            rows: { work.buffer },
            open: open
        )
    }

    func image() throws(WebImageError) -> Image {
        guard let properties, let work, let plan else {
            throw WebImageError(.badImageData, "PNG: the data ends too early")
        }
        return try work.buffer.image(properties: properties, plan: plan, options: options)
    }
}
