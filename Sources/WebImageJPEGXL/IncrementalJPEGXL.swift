import CJPEGXL
import FoundationEssentials
import WebImageCodecs

/// An incremental decoder of a JPEG XL image, or of the first frame of an animation.
final class IncrementalJPEGXL: IncrementalImage {
    private let options: ImageDecodeOptions
    private(set) var properties: ImageProperties?
    private var header = JPEGXLHeader()
    private var events: JPEGXLEvents?
    private var work: Work?

    /// The state from the end of the header on.
    private struct Work {
        var plan: DecodePlan
        let pixels: JPEGXLPixels
        let decoder: JPEGXLDecoder
        let buffer: RowBuffer
        var isDone = false
        /// A Boolean value that indicates whether data was decoded since the last flush to the image.
        var isNew = false
        var isVisible = false
    }

    init(options: ImageDecodeOptions) { self.options = options }

    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool {
        let events = try openedEvents()
        events.offer(data)
        // The bytes are not kept until the next call.
        defer { events.offer(Data()) }
        if work == nil {
            guard try readHeader(events) else { return !isFinished }
            work = try begin(events)
        }
        guard var work else { return false }
        if !work.isDone {
            let (base, bytesPerRow) = (work.buffer.base, work.buffer.bytesPerRow)
            work.isDone = try work.decoder.advance(into: base, bytesPerRow: bytesPerRow, limits: options.limits)
            work.isNew = true
        }
        self.work = work
        return isFinished ? try finish(data) : true
    }

    private func openedEvents() throws(WebImageError) -> JPEGXLEvents {
        if let events { return events }
        let wanted = [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME_PROGRESSION, JXL_DEC_FULL_IMAGE]
        let opened = try JPEGXLEvents(Data(), wanted.reduce(0) { $0 | $1.rawValue })
        events = opened
        return opened
    }

    private func readHeader(_ events: JPEGXLEvents) throws(WebImageError) -> Bool {
        while let event = try events.nextIfThere() {
            let isComplete = try header.read(event, events, options.limits)
            properties = header.properties
            if isComplete { return true }
        }
        return false
    }

    /// - Returns: nil when the image must be complete.
    private func begin(_ events: JPEGXLEvents) throws(WebImageError) -> Work? {
        let properties = header.properties
        // The byte limit of a frame is known when all frames have been counted.
        let isSettled = !(header.isAnimated && options.scaleDownLimitBytes > 0)
        let plan = try DecodePlan.early(for: properties, options: options, isSettled: isSettled)
        let pixels = try JPEGXLPixels(header, options: options)
        let byteCount = RowBuffer.byteCount(width: pixels.width, height: pixels.height, layout: pixels.layout)
        // Previews need 8-bit rows.
        guard isSettled, let plan, pixels.layout != .rgbaFloat, byteCount <= options.limits.maximumDecodedByteCount
        else { return nil }
        let decoder = JPEGXLDecoder(arriving: events, pixels: pixels, limits: options.limits)
        let buffer = try RowBuffer(
            width: pixels.width,
            height: pixels.height,
            layout: pixels.layout,
            colorProfile: decoder.colorProfile ?? pixels.color?.makeProfile()
        )
        return Work(plan: plan, pixels: pixels, decoder: decoder, buffer: buffer)
    }

    /// Compares the contents of the complete file with those of its beginning.
    private func finish(_ data: Data) throws(WebImageError) -> Bool {
        guard let work, work.isDone else { return false }
        let wantsFrames = !options.decodeFirstFrameOnly
        let header = try JPEGXLHeader(data, limits: options.limits, wantsFrames: wantsFrames)
        self.work?.plan = try DecodePlan.make(for: header.properties, options: options)
        properties = header.properties
        return true
    }

    /// The time that libjxl 0.7 needs to render the missing blocks of XYB, although they are smooth, plus the preview's own: measured on images of 1
    /// and 12 megapixels. Rows of other images are rendered as they are received.
    var missingPartPreviewCost: Double { work?.isDone == true || header.usesOriginalColors ? 0 : 1.25 }

    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image? {
        guard let properties, var work else { return nil }
        if work.isDone {
            work.buffer.rowCount = work.buffer.height
        } else if work.isNew {
            work.isVisible = work.decoder.flush()
            let isAll = work.isVisible && work.decoder.hasOverview
            work.buffer.rowCount = isAll ? work.buffer.height : work.isVisible ? work.buffer.arrivedRowCount : 0
            work.isNew = false
        }
        self.work = work
        guard work.buffer.rowCount > 0 else { return nil }
        let isStraight = work.isDone || !work.pixels.isPremultiplied
        return try ImageAssembler.makePreview(
            of: isStraight ? work.buffer : try StraightRows(work.buffer, work.pixels),
            properties: properties,
            plan: work.plan,
            options: options,
            maximumPixelCount: maximumPixelCount
        )
    }

    func image() throws(WebImageError) -> Image {
        guard let properties, let work else {
            throw WebImageError(.badImageData, "JPEG XL: the file has no image")
        }
        work.buffer.rowCount = work.buffer.height
        return try work.buffer.image(properties: properties, plan: work.plan, options: options)
    }
}
