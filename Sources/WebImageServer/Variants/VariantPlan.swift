import FoundationEssentials
import WebImage

/// The load of a variant: its options and context, and the encoding.
struct VariantPlan: Sendable {
    var url: URL
    var options: WebImageOptions = []
    var context = WebImageContext()
    var encoding = ImageEncoding()
    /// A text whose change makes another result; empty for none.
    private(set) var buster = ""

    /// The qualities of formats without one in the request, 1...100.
    static let defaultQualities: [ImageFormat: Int] = [.avif: 63, .jpegXL: 77, .webp: 79]

    /// - Parameters:
    ///   - accepted: The formats to choose from if the request names none.
    ///   - quality: The quality if neither the request nor ``defaultQualities`` has one, 1...100.
    ///   - watermark: The server's watermark; nil if it has none.
    /// - Throws: ``ServerError`` with status 422 for an option that is not done, named; 400 for a source that is not a URL.
    init(
        _ request: VariantRequest,
        accepted: AcceptedFormats,
        quality: Int,
        watermark: ServerWatermark? = nil
    ) throws(ServerError) {
        var wanted = request.options
        if let name = Self.unsupported(wanted) { throw .unsupportedOption(name) }
        if wanted.watermark.opacity > 0 {
            guard let watermark, wanted.watermark.source == nil else { throw .unsupportedOption("watermark") }
            wanted.watermark.opacity *= watermark.opacity
        }
        guard let url = URL(string: request.source), url.scheme != nil else {
            throw .invalidURL("the source is not a URL")
        }
        self.url = url
        context.callbackQueue = .inline
        // Results are kept as encoded bytes, so only decoded images that others can be scaled from are worth memory.
        context.storeCacheType = .memory
        context.queryCacheType = .memory
        context.sizeReuse = .memory
        if let limit = wanted.limits.sourcePixels {
            var decode = ImageDecodeOptions()
            decode.limits.maximumPixelCount = min(decode.limits.maximumPixelCount, max(limit, 1))
            context.decodeOptions = decode
        }
        if let text = wanted.cacheBuster, !text.isEmpty {
            buster = text
            context.cacheKeyFilter = CacheKeyFilter { url in "\(url.absoluteString)#\(text)" }
        }
        setGeometry(wanted, watermark)
        setEncoding(wanted, accepted, quality)
    }

    private mutating func setGeometry(_ wanted: VariantOptions, _ watermark: ServerWatermark?) {
        if wanted.raw {
            // Decoded small, and only to know that it is an image within the limits.
            context.thumbnailPixelSize = ImageSize(width: 64, height: 64)
            context.imageTransformer = .none
            options.insert(.decodeFirstFrameOnly)
            return
        }
        if let box = Self.box(wanted) {
            context.thumbnailPixelSize = box.size
            context.thumbnailCovers = box.covers
            if !box.isRough {
                context.imageTransformer = .none
                return
            }
        }
        context.imageTransformer = .transformer(ResultTransformer(wanted, watermark: watermark?.image))
    }

    /// The box that the image is decoded for; nil for its full size.
    private static func box(_ wanted: VariantOptions) -> (size: ImageSize, covers: Bool, isRough: Bool)? {
        let scales = wanted.minWidth > 0 || wanted.minHeight > 0 || wanted.isAdaptive
        let isCropped = wanted.crop.width > 0 || wanted.crop.height > 0
        // A focal region is in pixels of the source, and the sides of a box are those of an upright image.
        guard !scales, !isCropped, wanted.trim.threshold == nil, wanted.focalRegion == nil,
            wanted.autoRotate != false
        else { return nil }
        func pixels(_ length: VariantLength, _ zoom: Double) -> Double? {
            if case .pixels(let count) = length { max((Double(count) * zoom * wanted.dpr).rounded(), 1) } else { nil }
        }
        var (width, height) = (pixels(wanted.width, wanted.zoomWidth), pixels(wanted.height, wanted.zoomHeight))
        guard width != nil || height != nil, wanted.width != .original, wanted.height != .original else { return nil }
        if wanted.rotate % 180 != 0 { swap(&width, &height) }
        let isUpright =
            wanted.rotate == 0 && !wanted.flipHorizontal && !wanted.flipVertical && wanted.resultRotation == 0
        let isAlone =
            !wanted.extend.isEnabled && !wanted.extendAspectRatio.isEnabled && wanted.padding == VariantPadding()
        let hasEffects =
            wanted.blur > 0 || wanted.sharpen > 0 || wanted.pixelate > 1 || !wanted.colorEffects.isEmpty
            || wanted.watermark.opacity > 0
        let isPlain =
            isUpright && isAlone && !hasEffects && !wanted.enlarge && wanted.background == nil
            && wanted.limits.resultSide == nil
        guard let w = width, let h = height else {
            // Only one side.
            let box = ImageSize(width: width ?? 65_535, height: height ?? 65_535)
            return (box, false, !(isPlain && wanted.resizingType != .force))
        }
        let size = ImageSize(width: w, height: h)
        return wanted.resizingType == .fit ? (size, false, !isPlain) : (size, true, true)
    }

    private mutating func setEncoding(_ wanted: VariantOptions, _ accepted: AcceptedFormats, _ quality: Int) {
        encoding.originalUse = ImageEncoding.OriginalUse(wanted)
        let keepsMetadata = wanted.keptMetadata != nil
        encoding.formats =
            wanted.format.map { [$0] }
            ?? accepted.formats.filter { !keepsMetadata || MetadataBlocks.writableFormats.contains($0) }
        encoding.quality = Double(wanted.quality > 0 ? wanted.quality : quality) / 100
        if wanted.quality == 0 {
            let own = Self.defaultQualities.merging(wanted.formatQuality) { $1 }
            encoding.qualities = own.mapValues { Double($0) / 100 }
        }
        encoding.options.maxFileSize = wanted.maxBytes
        if case .color(let color) = wanted.background { encoding.options.backgroundColor = color }
        let isStill = wanted.format.map { [.jpeg, .avif, .tiff, .bmp].contains($0) } ?? false
        if isStill || wanted.limits.animationFrames == 1 {
            options.insert(.decodeFirstFrameOnly)
            encoding.options.encodeFirstFrameOnly = true
        }
    }

    /// The name of the first option that is known and not done; nil if all are done.
    private static func unsupported(_ wanted: VariantOptions) -> String? {
        // Metadata is written into some formats, and behind the search for a quality.
        let isWithoutMetadata =
            wanted.maxBytes > 0 || wanted.format.map { !MetadataBlocks.writableFormats.contains($0) } ?? false
        let checks: [(Bool, String)] = [
            (isWithoutMetadata && wanted.keptMetadata == .all, "strip_metadata"),
            (isWithoutMetadata && wanted.keptMetadata == .copyright, "keep_copyright"),
            (wanted.stripColorProfile == false, "strip_color_profile"),
            (wanted.preserveHDR == true, "preserve_hdr"),
            (wanted.enforceThumbnail == true, "enforce_thumbnail"),
            (wanted.skipProcessing.contains(.svg), "skip_processing.svg"),
        ]
        return checks.first { $0.0 }?.1
    }
}

extension VariantPlan {
    /// A text that differs for different bytes of a result.
    var key: String {
        let size = context.thumbnailPixelSize.map { "\($0.width)x\($0.height)" } ?? ""
        var transform = ""
        if case .transformer(let transformer) = context.imageTransformer { transform = transformer.transformerKey }
        let covers = context.thumbnailCovers == true
        return "\(url.absoluteString) \(size) \(covers) \(transform) \(encoding.key) \(options.rawValue) \(buster)"
    }
}
