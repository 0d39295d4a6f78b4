import CSVGShims
import FoundationEssentials
import WebImageCodecs

/// A document that librsvg has read, and its size.
final class SVGDocument {
    /// Width and height in CSS pixels.
    let width: Double
    let height: Double
    private let handle: OpaquePointer
    /// Retained because librsvg does not document whether it copies the data.
    private let data: Data

    /// - Parameter data: a document that has been screened.
    /// - Throws: ``WebImageError/Code/badImageData``.
    init(_ data: Data) throws(WebImageError) {
        var message = [CChar](repeating: 0, count: 256)
        var size = webimage_svg_size()
        let handle = data.withUnsafeBytes {
            webimage_svg_open($0.baseAddress, $0.count, &size, &message, message.count)
        }
        guard let handle else {
            throw WebImageError(.badImageData, "the SVG document is damaged: \(Self.text(message))")
        }
        (width, height) = Self.intrinsicSize(size)
        self.handle = handle
        self.data = data
    }

    deinit { webimage_svg_close(handle) }

    /// Returns the size in whole pixels.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for a document without a size.
    func pixelSize() throws(WebImageError) -> (width: Int, height: Int) {
        guard width.isFinite, height.isFinite, width > 0, height > 0 else {
            throw WebImageError(.badImageData, "the SVG document has no size (\(width) by \(height))")
        }
        return (DecodePlan.drawnSide(width, .up), DecodePlan.drawnSide(height, .up))
    }

    /// Returns the size that browsers use: width and height; if one is missing or a percentage, it follows from the other and the aspect ratio of the
    /// view box; without both, the view box; without everything, 300 by 150.
    static func intrinsicSize(_ size: webimage_svg_size) -> (Double, Double) {
        let hasBox = size.box_width > 0 && size.box_height > 0
        switch (size.width >= 0, size.height >= 0) {
        case (true, true): return (size.width, size.height)
        case (true, false): return (size.width, hasBox ? size.width * size.box_height / size.box_width : 150)
        case (false, true): return (hasBox ? size.height * size.box_width / size.box_height : 300, size.height)
        case (false, false): return hasBox ? (size.box_width, size.box_height) : (300, 150)
        }
    }

    /// Draws the whole document over a bitmap of premultiplied BGRA. At the document's own size a fraction of a pixel at the right and the bottom
    /// stays transparent; at other sizes all pixels are covered.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    func draw(into bitmap: Bitmap) throws(WebImageError) {
        let pixels = bitmap.mutableRow(0)
        let own = try pixelSize()
        let isOwnSize = own == (bitmap.width, bitmap.height)
        pixels.initializeMemory(as: UInt8.self, repeating: 0, count: bitmap.bytesPerRow * bitmap.height)
        var message = [CChar](repeating: 0, count: 256)
        let isDrawn = webimage_svg_draw(
            handle,
            isOwnSize ? Double(bitmap.width) : width,
            isOwnSize ? Double(bitmap.height) : height,
            width,
            height,
            pixels,
            Int32(clamping: bitmap.width),
            Int32(clamping: bitmap.height),
            Int32(clamping: bitmap.bytesPerRow),
            &message,
            message.count
        )
        guard isDrawn else {
            throw WebImageError(.badImageData, "the SVG document cannot be drawn: \(Self.text(message))")
        }
    }

    private static func text(_ message: [CChar]) -> String {
        String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
