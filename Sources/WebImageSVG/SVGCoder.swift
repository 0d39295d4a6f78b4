public import FoundationEssentials
public import WebImageCodecs

/// Rasterises SVG, with librsvg.
///
/// `SVGCoder()` draws only in worker processes: librsvg cannot be stopped once it draws, and a document of a few hundred bytes can keep it
/// busy for hours, or end its process. A worker bounds time and memory (``WebImage/DecodeIsolation``). `WebImageFormats.registerAll()`
/// registers SVG that way; without the other formats, that is
/// `ImageCodersManager.shared.add(IsolatedImageCoder(DecodeIsolation(formats: [.svg]), base: SVGCoder()))`. Outside of workers the coder
/// throws ``WebImage/WebImageError/Code/decoderUnavailable``, unless ``init(maximumInProcessByteCount:)`` allows more.
///
/// A drawing has no pixels of its own: with ``WebImage/ImageDecodeOptions/thumbnailPixelSize`` it is drawn at that size,
/// **also when that is bigger** than the size the document names. By default the result is the biggest of the document's shape
/// that fits into the box; without ``WebImage/ImageDecodeOptions/preserveAspectRatio`` it is exactly the box, the drawing
/// stretched. Without a thumbnail size it has the document's size: width and height in CSS pixels (96 to the inch), rounded up; where they are
/// missing or percentages, that of the view box; without one, 300 by 150.
///
/// Nothing outside the document is read: no files, no addresses but `data:`. No script runs. Embedded images are checked against the
/// limits, each and all together, before they are decoded. Those that are damaged or of a format the core does not read are left out, and
/// so are drawings that other elements than `image` and `feImage` embed. Elements may be nested 256 deep. An element that refers to itself
/// in a circle is left out there. Compressed documents (`.svgz`) are not read. The result is an image with alpha;
/// ``WebImage/ImageMetadata/isVector`` says that it was drawn. SVG is not encoded.
public struct SVGCoder: ImageCoder {
    /// The longest side that cairo draws.
    private static let longestSide = 32_767

    /// The most bytes of a document that is drawn in this process; 0 for none.
    public let maximumInProcessByteCount: Int

    /// A coder.
    ///
    /// - Parameter maximumInProcessByteCount: the most bytes of a document that may be drawn in this process. 0, the default, draws only in
    ///   worker processes, which take documents of any length. More is for documents that you trust: drawing them takes as long as it
    ///   takes, and a fault of librsvg ends the process. References can use up the stack in documents longer than 64 KiB.
    public init(maximumInProcessByteCount: Int = 0) { self.maximumInProcessByteCount = maximumInProcessByteCount }

    /// Whether the data is an XML document whose root is `svg`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .svg }

    /// The document's size in pixels. Cost: reads the whole document, and draws nothing.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/limitExceeded``,
    ///   ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try checkPlace(data)
        let properties = try Self.properties(try SVGDocument(try SVGScreening.screened(data, limits: limits).0))
        try limits.check(width: properties.width, height: properties.height)
        return properties
    }

    /// Draws the document.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/limitExceeded``,
    ///   ``WebImage/WebImageError/Code/outOfMemory``, ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try checkPlace(data)
        let (screened, _) = try SVGScreening.screened(data, limits: options.limits)
        let document = try SVGDocument(screened)
        let properties = try Self.properties(document)
        let plan = try Self.plan(document, properties, options)
        let bitmap = try Bitmap.allocate(
            width: plan.width,
            height: plan.height,
            pixelFormat: .bgra8Premultiplied
        )
        try document.draw(into: bitmap)
        var metadata = ImageAssembler.metadata(properties, plan, options)
        metadata.isVector = true
        // Drawings have 8 bits.
        let isWide = options.pixelFormat == .rgbaHalfPremultiplied
        let result = isWide ? try bitmap.converted(to: .rgbaHalfPremultiplied) : bitmap
        return Image(bitmap: result, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
    }

    /// Always false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImage/WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "SVG is not encoded")
    }

    /// Checks that the document may be read in this process.
    ///
    /// - Throws: ``WebImageError/Code/decoderUnavailable``, ``WebImageError/Code/limitExceeded``.
    func checkPlace(_ data: Data) throws(WebImageError) {
        guard !DecodingPlace.isWorker else { return }
        let most = maximumInProcessByteCount
        guard most > 0 else {
            throw WebImageError(
                .decoderUnavailable,
                "SVG is drawn only in worker processes (WebImageFormats.registerAll(), IsolatedImageCoder) unless SVGCoder(maximumInProcessByteCount:) allows it in this one"
            )
        }
        guard data.count <= most else {
            throw .limitExceeded("maximumInProcessByteCount", allowed: most, required: data.count)
        }
    }

    static func properties(_ document: SVGDocument) throws(WebImageError) -> ImageProperties {
        let size = try document.pixelSize()
        var properties = ImageProperties(format: .svg, width: size.width, height: size.height)
        properties.hasAlpha = true
        return properties
    }

    /// The limits hold for what is drawn, not for the size that the document names.
    static func plan(
        _ document: SVGDocument,
        _ properties: ImageProperties,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodePlan {
        var wanted = properties
        if let box = options.thumbnailPixelSize, box.isUsable {
            var size = box
            if options.preserveAspectRatio {
                let (across, down) = (box.width / document.width, box.height / document.height)
                let scale = options.thumbnailCovers ? max(across, down) : min(across, down)
                size = ImageSize(width: document.width * scale, height: document.height * scale)
            }
            wanted.width = SVGDocument.pixels(size.width, .toNearestOrAwayFromZero)
            wanted.height = SVGDocument.pixels(size.height, .toNearestOrAwayFromZero)
        }
        let side = max(wanted.width, wanted.height)
        try options.limits.check(width: wanted.width, height: wanted.height)
        guard side <= longestSide else { throw .limitExceeded("SVG side length", allowed: longestSide, required: side) }
        var unboxed = options
        unboxed.thumbnailPixelSize = nil
        var plan = try DecodePlan.make(for: wanted, options: unboxed)
        plan.isThumbnail = wanted.width != properties.width || wanted.height != properties.height
        return plan
    }
}
