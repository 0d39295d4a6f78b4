package import FoundationEssentials
package import WebImageCodecs

/// Draws pages of PDF documents with poppler, in this process. Only for the worker program: poppler is GPL, and a drawing cannot be cancelled.
package struct PopplerCoder: ImageCoder {
    /// The document of the last estimate, which the following decode takes. Opening a document again takes time, above all if it is encrypted.
    private let estimated = Lock<PDFDocument?>(nil)

    package init() {}

    package func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .pdf }

    /// Reads the size of the first page, and the number of pages.
    package func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        estimated.withLock { $0 = nil }
        let properties = try PDFDocument(data).page(0).properties
        try limits.check(width: properties.width, height: properties.height)
        return properties
    }

    package func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let document = try opened(data)
        let page = try document.page(options.page)
        let plan = try page.plan(options)
        let canvas = try Bitmap.allocate(
            width: plan.width,
            height: plan.height,
            pixelFormat: .bgra8Premultiplied
        )
        try document.draw(page, into: canvas)
        var metadata = ImageAssembler.metadata(page.properties, plan, options)
        metadata.isVector = true
        // A page is opaque.
        let bitmap = try canvas.converted(to: options.pixelFormat ?? .rgb8)
        return Image(bitmap: bitmap, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
    }

    /// Counts the pixels, a canvas for them and for some groups that are blended separately, and the largest embedded image, which is unpacked before
    /// it is scaled. An estimate: poppler has no memory limit. Reads the whole document.
    package func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        // Other bytes may be where those of the last one were.
        estimated.withLock { $0 = nil }
        let document = try PDFDocument(data)
        let plan = try document.page(options.page).plan(options)
        estimated.withLock { $0 = document }
        let canvas = AssemblyNeed.bitmap(plan, bytesPerPixel: 4)
        let format = options.pixelFormat ?? .rgb8
        let canvasCount = format == .bgra8Premultiplied ? Self.groups : Self.groups + 1
        let (images, overflow) = PDFImageSizes.largestPixelCount(in: data).multipliedReportingOverflow(by: 8)
        let most = max(options.limits.maximumDecodedByteCount, 0)
        return DecodeMemoryNeed(
            outputByteCount: AssemblyNeed.bitmap(plan, bytesPerPixel: format.bytesPerPixel),
            workingByteCount: canvasCount * canvas + (overflow ? most : min(images, most)) + 2 * data.count
                + Self.tables
        )
    }

    private func opened(_ data: Data) throws(WebImageError) -> PDFDocument {
        if let document = estimated.withLock({ $0.take() }), document.isOpened(from: data) { return document }
        return try PDFDocument(data)
    }

    package func canEncode(to format: ImageFormat) -> Bool { false }

    package func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding PDF is not supported")
    }

    /// The number of canvases for transparency that pages usually need at a time.
    private static let groups = 3
    /// The bytes of fonts and tables.
    private static let tables = 8 << 20
}
