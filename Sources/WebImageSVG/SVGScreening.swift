import CSVGShims
import FoundationEssentials
import WebImageCodecs

/// Screens a document before librsvg reads it. librsvg would decode embedded images of any size, add up a million octaves of noise for every pixel,
/// and end the process for a convolution of 400 factors or more.
struct SVGScreening {
    /// The maximum depth of embedded documents.
    static let deepest = 3

    /// The attributes that are screened.
    static let names = SVGStyle.attributes.union(["href", "numOctaves", "order", "kernelMatrix"])

    private let limits: ImageLimits
    private let level: Int
    /// The number of bytes that the images found so far take when decoded.
    private(set) var decodedByteCount: Int
    /// The bytes to overwrite in the document.
    private var edits: [(range: Range<Int>, byte: UInt8)] = []
    /// The number of elements of the document.
    private(set) var elementCount = 0
    /// A Boolean value that indicates whether the current attributes belong to an image.
    private var isImage = false
    /// For each open element, whether it is a style sheet.
    private var open: [Bool] = []
    /// The text of the open style sheet; librsvg reads each sheet separately.
    private var styleSheet: [UInt8] = []

    private init(limits: ImageLimits, level: Int, decodedByteCount: Int) {
        self.limits = limits
        self.level = level
        self.decodedByteCount = decodedByteCount
    }

    /// Returns the document without embedded images that are damaged or of unsupported formats, and the screening's results.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``; ``WebImageError/Code/limitExceeded`` for an embedded image above a limit, and when all together
    ///   are.
    static func screened(_ document: Data, limits: ImageLimits) throws(WebImageError) -> (Data, SVGScreening) {
        var screening = SVGScreening(limits: limits, level: 0, decodedByteCount: 0)
        return (try screening.screen(document), screening)
    }

    private mutating func screen(_ document: Data) throws(WebImageError) -> Data {
        guard ImageFormat(detecting: document) == .svg else {
            throw WebImageError(.badImageData, "the data is not an SVG document")
        }
        var failure: WebImageError?
        document.withUnsafeBytes { bytes in
            var markup = SVGMarkup(bytes.bindMemory(to: UInt8.self))
            do throws(WebImageError) {
                try markup.walk { (event) throws(WebImageError) in try take(event) }
                // The style sheet that is still open.
                try SVGStyle.check(sheet: styleSheet)
            } catch { failure = error }
        }
        if let failure { throw failure }
        guard !edits.isEmpty else { return document }
        var copy = document
        for (range, byte) in edits {
            for offset in range { copy[copy.startIndex + offset] = UInt8(ascii: "0") }
            copy[copy.startIndex + range.upperBound - 1] = byte
        }
        return copy
    }

    private mutating func take(_ event: SVGMarkup.Event) throws(WebImageError) {
        switch event {
        case .open(let name):
            elementCount += 1
            isImage = name.elementsEqual("image".utf8) || name.elementsEqual("feImage".utf8)
            open.append(name.elementsEqual("style".utf8))
        case .close:
            guard open.popLast() == true else { return }
            try SVGStyle.check(sheet: styleSheet)
            styleSheet = []
        case .text(let text): if open.last == true { styleSheet += text }
        case .attribute(let name, let value):
            let name = String(decoding: name, as: UTF8.self)
            switch name {
            case "href": try look(at: value)
            // More than 9 octaves look the same; a convolution of order 0 is skipped.
            case "numOctaves": try bound(value, most: 32, replacement: UInt8(ascii: "9"))
            case "order": try bound(value, most: 20, replacement: UInt8(ascii: "0"))
            case "kernelMatrix": try boundMatrix(value)
            default: try SVGStyle.check(attribute: name, value.text)
            }
        }
    }

    /// Replaces a number that is too large or unreadable.
    private mutating func bound(
        _ value: SVGMarkup.Value,
        most: Double,
        replacement: UInt8
    ) throws(WebImageError) {
        let numbers = String(decoding: value.text, as: UTF8.self).split { $0 == "," || $0.isWhitespace }
        if numbers.allSatisfy({ Double($0).map { $0 <= most } ?? false }) { return }
        try replace(value, by: replacement)
    }

    /// librsvg reads 400 factors and panics when the order states another number; a single factor for a larger order is an error to it.
    private mutating func boundMatrix(_ value: SVGMarkup.Value) throws(WebImageError) {
        // Each number but the first begins after or with one of these.
        let starts = value.text.count { $0 <= 0x20 || ",+-./".utf8.contains($0) }
        if starts >= 399 { try replace(value, by: UInt8(ascii: "0")) }
    }

    private mutating func replace(_ value: SVGMarkup.Value, by replacement: UInt8) throws(WebImageError) {
        guard let range = value.range else {
            throw WebImageError(.badImageData, "the SVG document is refused: a filter would take too long")
        }
        edits.append((range, replacement))
    }

    /// Screens a URL. URL parsers ignore white space.
    private mutating func look(at value: SVGMarkup.Value) throws(WebImageError) {
        let start = value.text.lazy.filter { $0 > 0x20 }.prefix(5)
        guard start.map({ $0 | 0x20 }).elementsEqual("data:".utf8.map { $0 | 0x20 }) else { return }
        let text = String(decoding: value.text.filter { $0 > 0x20 }, as: UTF8.self)
        do throws(WebImageError) {
            try check(try DataURL(text, limit: limits.maximumEncodedByteCount).data)
        } catch  where error.code == .badImageData || error.code == .unsupportedFormat || error.code == .invalidURL {
            // The embedded image is left out; the rest of the drawing is shown.
            guard let range = value.range,
                let first = range.first(where: { value.text[$0 - range.lowerBound] > 0x20 })
            else { throw WebImageError(.badImageData, "an image URL in the SVG document: \(error.message)") }
            edits.append((first..<first + 1, UInt8(ascii: "x")))
        }
    }

    private mutating func check(_ image: Data) throws(WebImageError) {
        let size: (width: Int, height: Int)
        if ImageFormat(detecting: image) == .svg {
            guard level + 1 < Self.deepest else {
                throw .limitExceeded("SVG nesting depth", allowed: Self.deepest, required: level + 2)
            }
            var inner = SVGScreening(limits: limits, level: level + 1, decodedByteCount: decodedByteCount)
            // Other elements would make it a part of this drawing, at its size; browsers do not support that.
            guard isImage else { throw WebImageError(.badImageData, "it embeds a document outside an image element") }
            let screened = try inner.screen(image)
            // An embedded document cannot be edited, because it is encoded in a URL.
            guard screened == image else { throw WebImageError(.badImageData, "a nested image is damaged") }
            decodedByteCount = inner.decodedByteCount
            size = try SVGDocument(screened).pixelSize()
        } else {
            let properties = try Self.coders.properties(of: image, limits: limits)
            size = (properties.width, properties.height)
        }
        try limits.check(width: size.width, height: size.height)
        decodedByteCount += size.width * size.height * 4
        try limits.check(decodedByteCount: decodedByteCount)
    }

    private static let coders = ImageCodersManager()
}
