import FoundationEssentials

/// An incremental decoder of a WebP image, or of the frames of an animation.
///
/// The rows of the first frame are decoded as they arrive. Further frames are decoded when a preview's animation requests them.
final class IncrementalWebP: IncrementalImage {
    private let options: ImageDecodeOptions
    private let previews: AnimationPreviews
    private var finder = WebPFrameFinder()
    private var frames: IncrementalWebPFrames
    private(set) var properties: ImageProperties?
    private var plan: DecodePlan?
    /// The contents of the beginning of the file.
    private var container: WebPContainer?
    private var work: Work?
    /// A Boolean value that indicates whether the first image was searched for and decoding its rows was tried. If ``work`` is still nil then, they
    /// cannot be decoded as they arrive.
    private var hasTriedRows = false
    /// All bytes so far, for frames that are requested later; empty until they are needed.
    private var data = Data()

    /// The state from the start of the image on.
    private struct Work {
        /// The contents of the beginning of the file.
        let container: WebPContainer
        let bytes: Range<Int>
        /// The size to which the decoder scales.
        let size: (width: Int, height: Int)
        let buffer: RowBuffer
        let decoder: IncrementalWebPDecoder
        /// The minimum number of new bytes for a call of the decoder.
        let step: Int
        /// The offset in the file up to which the decoder was given bytes; 0 before the first call.
        var given = 0
    }

    init(options: ImageDecodeOptions) {
        self.options = options
        previews = AnimationPreviews(options: options)
        frames = IncrementalWebPFrames(frameLimit: options.limits.maximumFrameCount)
    }

    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool {
        guard data.count >= 12 || isFinished else { return true }
        if work == nil, !hasTriedRows {
            guard ImageFormat(detecting: data) == .webp else { throw WebImageError(.badImageData, "not a WebP file") }
            try data.withBytes { (bytes) throws(WebImageError) in try find(in: bytes) }
            guard finder.isFound || finder.isLost || isFinished else { return true }
            work = finder.isFound ? try begin(data) : nil
            hasTriedRows = true
        }
        try findFrames(in: data, isFinished: isFinished)
        guard var work else {
            // The frames of an animation can be shown once they are complete.
            self.data = frames.complete.isEmpty || isFinished ? Data() : data
            return !isFinished && showsFrames && container != nil && !frames.hasEnded
        }
        try data.withBytes { (bytes) throws(WebImageError) in try decode(&work, bytes, isFinished: isFinished) }
        self.work = work
        self.data = frames.complete.count > 1 && !isFinished ? data : Data()
        return isFinished ? try finish(data) : true
    }

    private func find(in bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        finder.find(in: bytes)
        guard properties == nil, let canvas = finder.canvas else { return }
        var properties = ImageProperties(format: .webp, width: canvas.width, height: canvas.height)
        properties.hasAlpha = canvas.hasAlpha
        self.properties = properties
        try options.limits.check(width: canvas.width, height: canvas.height)
    }

    /// A Boolean value that indicates whether previews are animated.
    private var showsFrames: Bool { finder.canvas?.isAnimated ?? false && !options.decodeFirstFrameOnly }

    /// Finds the frames that have become complete, and updates the properties and the plan.
    private func findFrames(in data: Data, isFinished: Bool) throws(WebImageError) {
        guard showsFrames, let canvas = finder.canvas, !isFinished else { return }
        let former = frames.count
        data.withUnsafeBytes { frames.read($0, onCanvasOf: canvas.width, by: canvas.height) }
        guard var properties, frames.count != former || plan == nil else { return }
        properties.frameCount = max(frames.count, 1)
        let isAnimated = frames.count > 1
        properties.frameDurations = isAnimated ? frames.complete.map(\.duration) : []
        properties.loopCount = isAnimated ? frames.loopCount : 0
        self.properties = properties
        // The byte limit applies to all frames together, so further frames make each smaller.
        if let early = try DecodePlan.early(for: properties, options: options, isSettled: false) { plan = early }
    }

    /// Starts decoding the rows of the first image; nil when they cannot be decoded as they arrive.
    private func begin(_ data: Data) throws(WebImageError) -> Work? {
        guard let container = try beginning(of: data), let end = finder.end,
            finder.start == container.first.bytes.lowerBound
        else { return nil }
        self.container = container
        let limits = options.limits
        let properties = WebPCoder.properties(container, limits)
        self.properties = properties
        let hasMetadata = finder.canvas?.hasMetadata ?? false
        let isLimited = options.scaleDownLimitBytes > 0 && finder.canvas?.isAnimated ?? false
        let isSettled = !isLimited && !(hasMetadata && options.isThumbnail)
        let early = try DecodePlan.early(for: properties, options: options, isSettled: isSettled)
        plan = early
        guard !isLimited, let plan = early else { return nil }
        let size = decoderSize(for: plan, of: properties)
        if hasMetadata, try !isSizeSettled(size, properties) { return nil }
        try limits.check(decodedByteCount: container.decoderByteCount)
        let isScaled = container.firstCoversCanvas
        let width = isScaled ? size.width : container.width
        let height = isScaled ? size.height : container.height
        let layout: ScanlineLayout = container.hasAlpha ? .rgba8 : .rgb8
        guard RowBuffer.byteCount(width: width, height: height, layout: layout) <= limits.maximumDecodedByteCount
        else {
            return nil
        }
        let buffer = try RowBuffer(
            width: width,
            height: height,
            layout: layout,
            colorProfile: container.colorProfile
        )
        return Work(
            container: container,
            bytes: container.first.bytes.lowerBound..<max(end, container.first.bytes.lowerBound),
            size: size,
            buffer: buffer,
            decoder: try decoder(container.first, into: buffer, isWhole: isScaled),
            step: Self.step(container.first, byteCount: end - container.first.bytes.lowerBound)
        )
    }

    private func beginning(of data: Data) throws(WebImageError) -> WebPContainer? {
        do throws(WebImageError) {
            return try data.withBytes { (bytes) throws(WebImageError) in
                try WebPContainer(bytes, limits: options.limits, isWhole: false, arriving: finder.frame(in: bytes))
            }
        } catch {
            guard error.code == .limitExceeded else { return nil }
            throw error
        }
    }

    /// Returns whether the decoder scales to the same size with any orientation.
    private func isSizeSettled(
        _ size: (width: Int, height: Int),
        _ properties: ImageProperties
    ) throws(WebImageError) -> Bool {
        var turned = properties
        turned.orientation = properties.orientation.swapsSides ? .up : .right
        guard let plan = try DecodePlan.early(for: turned, options: options, isSettled: false) else { return false }
        return decoderSize(for: plan, of: turned) == size
    }

    private func decoderSize(for plan: DecodePlan, of properties: ImageProperties) -> (width: Int, height: Int) {
        let isAnimated = finder.canvas?.isAnimated ?? false
        return WebPCoder.decoderSize(for: plan, of: properties, isAnimated: isAnimated, options: options)
    }

    /// Returns the minimum number of new bytes for a call of the decoder. When the lossless decoder runs out of bytes, it repeats up to eight rows;
    /// before the first row, it starts again.
    private static func step(_ frame: WebPContainer.Frame, byteCount: Int) -> Int {
        frame.isLossless ? max(byteCount / max(frame.height, 1) * 32, byteCount / 32, 4096) : 1
    }

    private func decoder(
        _ frame: WebPContainer.Frame,
        into buffer: RowBuffer,
        isWhole: Bool
    ) throws(WebImageError) -> IncrementalWebPDecoder {
        var base = buffer.address(of: 0)
        var size = (width: buffer.width, height: buffer.height)
        if !isWhole {
            buffer.clear()
            // The frame lies on the canvas: the demuxer has checked it, or the initializer that reads an incomplete frame.
            base += frame.y * buffer.bytesPerRow + frame.x * 4
            size = (frame.width, frame.height)
        }
        return try IncrementalWebPDecoder(
            base: base,
            bytesPerRow: buffer.bytesPerRow,
            size: size,
            hasAlpha: buffer.layout == .rgba8,
            isScaled: size != (frame.width, frame.height)
        )
    }

    private func decode(
        _ work: inout Work,
        _ bytes: UnsafeRawBufferPointer,
        isFinished: Bool
    ) throws(WebImageError) {
        let end = min(work.bytes.upperBound, bytes.count)
        let isAll = isFinished || end == work.bytes.upperBound
        guard !work.decoder.isDone, end - work.given >= (isAll ? 1 : work.step) else { return }
        guard isAll || work.given > 0 || hasBegun(UnsafeRawBufferPointer(rebasing: bytes[..<end])) else { return }
        try work.decoder.update(UnsafeRawBufferPointer(rebasing: bytes[work.bytes.lowerBound..<end]))
        work.given = end
        let top = work.container.firstCoversCanvas ? 0 : work.container.first.y
        work.buffer.rowCount = work.decoder.isDone ? work.buffer.height : top + work.decoder.rowCount
    }

    /// Returns whether there are enough bytes for the decoder to start.
    private func hasBegun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = finder.lossyStart else { return true }
        guard start <= bytes.count,
            let needed = VP8Partitions.neededByteCount(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        else { return false }
        return bytes.count - start >= needed
    }

    /// Checks that the complete file has the contents that its beginning had. Returns false if it must be decoded again as a whole.
    private func finish(_ data: Data) throws(WebImageError) -> Bool {
        let container = try WebPCoder.container(of: data, limits: options.limits)
        let properties = WebPCoder.properties(container, options.limits)
        let plan = try DecodePlan.make(for: properties, options: options)
        guard let work else { return false }
        let size = WebPCoder.decoderSize(
            for: plan,
            of: properties,
            isAnimated: container.frameCount > 1,
            options: options
        )
        var first = work.container.first
        first.bytes = work.bytes
        let isSame =
            (container.width, container.height) == (work.container.width, work.container.height)
            && container.first == first && container.colorProfile == work.container.colorProfile
        guard work.decoder.isDone, isSame, size == work.size else { return false }
        self.plan = plan
        self.properties = properties
        return true
    }

    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image? {
        guard let properties, let plan, let container else { return nil }
        let complete = frames.complete
        let file = AnimationPreviews.File(properties: properties, plan: plan, frameCount: complete.count)
        let open: AnimationPreviews.Open = { [data] (file, options, former) throws(WebImageError) in
            try WebPCoder.composed(data, container, complete, file, options, continuing: former)
        }
        guard let work else {
            return try previews.preview(of: file, maximumPixelCount: maximumPixelCount, open: open)
        }
        guard work.decoder.isDone || work.decoder.rowCount > 0 else { return nil }
        return try previews.preview(
            of: file,
            maximumPixelCount: maximumPixelCount,
            isFirstComplete: work.decoder.isDone,
            rows: { work.buffer },
            open: open
        )
    }

    func image() throws(WebImageError) -> Image {
        guard let properties, let work, let plan else {
            throw WebImageError(.badImageData, "WebP: the file has no image")
        }
        return try work.buffer.image(properties: properties, plan: plan, options: options)
    }
}
