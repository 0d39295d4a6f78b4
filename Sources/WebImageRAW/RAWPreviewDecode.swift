import FoundationEssentials
import WebImageCodecs

/// The decode of a raw file's preview.
struct RAWPreviewDecode {
    private let file: RAWFile
    private let options: ImageDecodeOptions
    private let preview: RAWPreview
    private let largest: RAWPreview

    /// - Parameter start: the time from which the decode's time limit counts.
    init(
        _ file: RAWFile,
        _ options: ImageDecodeOptions,
        since start: SuspendingClock.Instant = .now
    ) throws(WebImageError) {
        var options = options
        if let seconds = options.limits.maximumDecodeDuration {
            options.limits.maximumDecodeDuration = max(seconds - (SuspendingClock.now - start) / .seconds(1), 0)
        }
        (self.file, self.options) = (file, options)
        let previews = try RAWPreviews(file, limits: options.limits)
        largest = previews.largest
        var unlimited = options
        unlimited.scaleDownLimitBytes = 0
        let plan = try DecodePlan.make(for: Self.properties(of: largest, in: file), options: unlimited)
        preview = previews.covering(width: plan.width, height: plan.height)
    }

    func image() throws(WebImageError) -> Image {
        let image =
            switch preview.layout {
            case .jpeg: try decodedJPEG()
            case .packed(let colors): try decodedPixels(colors)
            }
        var metadata = image.metadata
        (metadata.sourceWidth, metadata.sourceHeight) = (largest.width, largest.height)
        // A whole small preview is a thumbnail of the largest one.
        if preview.pixelCount < largest.pixelCount { metadata.isThumbnail = true }
        return image.with(metadata: metadata)
    }

    func memoryNeed() throws(WebImageError) -> DecodeMemoryNeed {
        var need =
            switch preview.layout {
            case .jpeg: try needOfJPEG()
            case .packed(let colors): try needOfPixels(colors)
            }
        need.workingByteCount += preview.copiedByteCount + RAWDevelopment.tables
        // A JPEG is copied when its bytes are restored, even if a smaller preview is decoded.
        if preview.pixelCount < largest.pixelCount, largest.isCopy { need.workingByteCount += largest.data.count }
        return need
    }

    /// Returns the properties of a preview, which is stored in the orientation of the sensor. One that the camera has already turned is upright.
    private static func properties(of preview: RAWPreview, in file: RAWFile) -> ImageProperties {
        var properties = ImageProperties(format: .raw, width: preview.width, height: preview.height)
        let sensor = file.properties
        let isTall = preview.height > preview.width
        let isTurned = sensor.orientation.swapsSides && isTall != (sensor.height > sensor.width)
        properties.orientation = isTurned ? .up : sensor.orientation
        return properties
    }

    // MARK: JPEG

    private func decodedJPEG() throws(WebImageError) -> Image {
        try JPEGCoder().decode(preview.data, options: options) { adapt(&$0) }
    }

    private func needOfJPEG() throws(WebImageError) -> DecodeMemoryNeed {
        try JPEGCoder().memoryNeed(of: preview.data, options: options) { adapt(&$0) }
    }

    /// The orientation of the raw file replaces that of the JPEG file.
    private func adapt(_ properties: inout ImageProperties) {
        properties.format = .raw
        properties.orientation = Self.properties(of: preview, in: file).orientation
    }

    // MARK: Packed pixels

    private func decodedPixels(_ colors: Int) throws(WebImageError) -> Image {
        let properties = Self.properties(of: preview, in: file)
        let plan = try DecodePlan.make(for: properties, options: options)
        return try preview.joined.withBytes { (bytes) throws(WebImageError) in
            guard let base = bytes.baseAddress else { throw WebImageError(.badImageData, "the preview is empty") }
            let rows = RAWRows(base, width: preview.width, height: preview.height, colors: colors, isWide: false)
            return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        }
    }

    private func needOfPixels(_ colors: Int) throws(WebImageError) -> DecodeMemoryNeed {
        let plan = try DecodePlan.make(for: Self.properties(of: preview, in: file), options: options)
        let assembly = AssemblyNeed(
            width: preview.width,
            height: preview.height,
            layout: colors == 1 ? .gray8 : .rgb8,
            hasTransform: false,
            hasAlpha: false,
            plan: plan,
            options: options
        )
        return DecodeMemoryNeed(assembly, decoder: 0)
    }
}
