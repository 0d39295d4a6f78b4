import CPopplerShims
import FoundationEssentials
import WebImageCodecs

/// A document that poppler has opened. Only one thread may use it at a time.
final class PDFDocument: @unchecked Sendable {
    /// A page: its index, and its size in points.
    struct Page {
        let index: Int
        let width: Double
        let height: Double
        let properties: ImageProperties

        func plan(_ options: ImageDecodeOptions) throws(WebImageError) -> DecodePlan {
            try DecodePlan.drawing(width: width, height: height, properties, options)
        }
    }

    /// The number of pages that the document states, at most what messages between processes allow.
    let pageCount: Int
    private let handle: OpaquePointer
    /// Retained because poppler does not copy it.
    private let data: Data

    private static let mostPages = 1 << 24

    /// Opens a document.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    init(_ data: Data) throws(WebImageError) {
        // Data stores up to 14 bytes in itself, whose address is valid only during the call. No document is that short.
        let data = data.count < 64 ? Data() : data
        var message = [CChar](repeating: 0, count: 256)
        var problem = webimage_pdf_none
        let handle = data.withUnsafeBytes {
            webimage_pdf_open($0.baseAddress, $0.count, &problem, &message, message.count)
        }
        guard let handle else {
            guard problem == webimage_pdf_encrypted else {
                throw WebImageError(.badImageData, "the PDF document is damaged: \(Self.text(message))")
            }
            throw WebImageError(.badImageData, "the PDF document is encrypted, and needs a password")
        }
        self.handle = handle
        self.data = data
        pageCount = min(Int(webimage_pdf_page_count(handle)), Self.mostPages)
    }

    deinit { webimage_pdf_close(handle) }

    /// Returns a Boolean value that indicates whether the document was opened from this memory. Equal bytes elsewhere do not count.
    func isOpened(from data: Data) -> Bool {
        self.data.withUnsafeBytes { own in
            data.withUnsafeBytes { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }

    /// Reads the size of a page, counted from 0.
    ///
    /// - Throws: ``WebImageError/Code/pageNotFound``, ``WebImageError/Code/badImageData``.
    func page(_ index: Int) throws(WebImageError) -> Page {
        guard pageCount > 0 else { throw WebImageError(.badImageData, "the PDF document has no pages") }
        guard index >= 0, index < pageCount else { throw .pageNotFound(index, of: pageCount) }
        var (width, height) = (0.0, 0.0)
        guard webimage_pdf_page_size(handle, Int32(index), &width, &height) else {
            throw WebImageError(.badImageData, "page \(index + 1) of the PDF document is damaged")
        }
        guard width.isFinite, height.isFinite, width > 0, height > 0 else {
            throw WebImageError(.badImageData, "page \(index + 1) of the PDF document has no size")
        }
        var properties = ImageProperties(
            format: .pdf,
            width: DecodePlan.drawnSide(width, .up),
            height: DecodePlan.drawnSide(height, .up)
        )
        properties.pageCount = pageCount
        return Page(index: index, width: width, height: height, properties: properties)
    }

    /// Draws a page into a bitmap of BGRA. At the page's own size, a fraction of a pixel at the right and the bottom stays white; at other sizes the
    /// page covers all pixels.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/outOfMemory``.
    func draw(_ page: Page, into bitmap: Bitmap) throws(WebImageError) {
        let isOwnSize = bitmap.width == page.properties.width && bitmap.height == page.properties.height
        var message = [CChar](repeating: 0, count: 256)
        let problem = webimage_pdf_draw(
            handle,
            Int32(page.index),
            isOwnSize ? Double(bitmap.width) : page.width,
            isOwnSize ? Double(bitmap.height) : page.height,
            bitmap.mutableRow(0),
            Int32(clamping: bitmap.width),
            Int32(clamping: bitmap.height),
            Int32(clamping: bitmap.bytesPerRow),
            &message,
            message.count
        )
        guard problem != webimage_pdf_none else { return }
        let isMemory = problem == webimage_pdf_no_memory
        throw WebImageError(
            isMemory ? .outOfMemory : .badImageData,
            "page \(page.index + 1) of the PDF document cannot be drawn: \(Self.text(message))"
        )
    }

    private static func text(_ message: [CChar]) -> String {
        String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
