public import FoundationEssentials
public import WebImageCodecs

/// Rasterises SVG with librsvg.
///
/// `SVGCoder()` only draws in worker processes: librsvg cannot be cancelled while it draws, and a document of a few hundred bytes can keep it busy
/// for hours, or end its process. A worker limits time and memory (``WebImage/DecodeIsolation``). `WebImageFormats.registerAll()` registers SVG that
/// way; without the other formats, use `ImageCodersManager.shared.add(IsolatedImageCoder(DecodeIsolation(formats: [.svg]), base: SVGCoder()))`.
/// Outside of workers the coder throws ``WebImage/WebImageError/Code/decoderUnavailable``, unless ``init(maximumInProcessByteCount:)`` allows more.
///
/// A drawing has no pixel size: with ``WebImage/ImageDecodeOptions/thumbnailPixelSize`` it is drawn at that size, **also when that is larger** than
/// the size the document states. By default the result is the largest of the document's aspect ratio that fits into the box; without
/// ``WebImage/ImageDecodeOptions/preserveAspectRatio`` the drawing is stretched to exactly the box. Without a thumbnail size it has the document's
/// size: width and height in CSS pixels (96 to the inch), rounded up; if they are missing or percentages, the size of the view box; without one, 300
/// by 150.
///
/// Nothing outside the document is read: no files, no URLs except `data:`. Scripts do not run. Embedded images are checked against the limits, each
/// and all together, before they are decoded. Those that are damaged or of a format that the core does not read are left out, and so are drawings
/// that are embedded by other elements than `image` and `feImage`. Elements may be nested 256 deep. An element that refers to itself in a circle is
/// left out there. Compressed documents (`.svgz`) are not read. The result is an image with alpha; ``WebImage/ImageMetadata/isVector`` is set.
/// Encoding SVG is not supported.
public struct SVGCoder: ImageCoder {
    /// The maximum number of bytes of a document that is drawn in this process; 0 for none.
    public let maximumInProcessByteCount: Int

    /// Creates a coder.
    ///
    /// - Parameter maximumInProcessByteCount: the maximum number of bytes of a document that may be drawn in this process. 0, the default, draws only
    ///   in worker processes, which take documents of any length. Set more only for documents that you trust: the drawing time is unlimited, and a
    ///   fault of librsvg ends the process. References can exhaust the stack in documents longer than 64 KiB.
    public init(maximumInProcessByteCount: Int = 0) { self.maximumInProcessByteCount = maximumInProcessByteCount }

    /// Returns whether the data is an XML document whose root is `svg`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .svg }

    /// Reads the document's size in pixels. Cost: reads the whole document, and draws nothing.
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
        let isHighBitDepth = options.pixelFormat == .rgbaHalfPremultiplied
        let result = isHighBitDepth ? try bitmap.converted(to: .rgbaHalfPremultiplied) : bitmap
        return Image(bitmap: result, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
    }

    /// Returns false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImage/WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding SVG is not supported")
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

    static func plan(
        _ document: SVGDocument,
        _ properties: ImageProperties,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodePlan {
        guard options.page == 0 else { throw .pageNotFound(options.page, of: 1) }
        return try DecodePlan.drawing(width: document.width, height: document.height, properties, options)
    }
}
