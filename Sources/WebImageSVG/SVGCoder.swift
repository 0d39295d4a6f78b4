public import FoundationEssentials
public import WebImageCodecs

/// Rasterises SVG, with librsvg.
///
/// A drawing has no pixels of its own: with ``WebImage/ImageDecodeOptions/thumbnailPixelSize`` it is drawn at that size,
/// **also when that is bigger** than the size the document names. By default the result is the biggest of the document's shape
/// that fits into the box; without ``WebImage/ImageDecodeOptions/preserveAspectRatio`` it is exactly the box, the drawing
/// stretched. Without a thumbnail size it has the document's size: width and height in CSS pixels (96 to the inch), rounded up; where they are
/// missing or percentages, that of the view box; without one, 300 by 150.
///
/// Nothing outside the document is read: no files, no addresses but `data:`. No script runs. Embedded pictures are held against the
/// limits, each and all together, before they are decoded; those that are damaged or of a format the core does not
/// read are left out, and so are drawings that are embedded by other elements than `image` and `feImage`. Elements may lie 256 deep in one another, references 512 deep; an element that refers to itself in a circle is left out there. Fonts may have 1 048 576 pixels. What would take too long to draw at
/// the size that is asked for (a minute, by an estimate that takes filters for bigger than they are; ten seconds, where references
/// repeat what is drawn, for dashes, and for finding out which rules are for which elements; four times ``WebImage/ImageLimits/maximumDecodeDuration`` if that is less)
/// is refused with ``WebImage/WebImageError/Code/limitExceeded``. Compressed documents (`.svgz`) are not read. The result is an image
/// with alpha; ``WebImage/ImageMetadata/isVector`` says that it was drawn. SVG is not encoded.
public struct SVGCoder: ImageCoder {
    /// The longest side that cairo draws.
    private static let longestSide = 32_767

    /// A coder.
    public init() {}

    /// Whether the data is an XML document whose root is `svg`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .svg }

    /// The document's size in pixels. Cost: reads the whole document, and draws nothing.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let properties = try Self.properties(try SVGDocument(try SVGScreening.screened(data, limits: limits).0))
        try limits.check(width: properties.width, height: properties.height)
        return properties
    }

    /// Draws the document.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/limitExceeded``,
    ///   ``WebImage/WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let (screened, work) = try SVGScreening.screened(data, limits: options.limits)
        let document = try SVGDocument(screened)
        let properties = try Self.properties(document)
        let plan = try Self.plan(document, properties, options)
        try document.check(work, width: plan.width, height: plan.height, options.limits)
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
