import CSVGShims
import FoundationEssentials
import WebImageCodecs

/// Looks at a document before librsvg does, which would decode embedded pictures of any size, add up a million octaves of noise
/// for every pixel, and end the process over a convolution of 400 factors or more.
struct SVGScreening {
    /// How deep documents may be embedded in one another.
    static let deepest = 3

    /// The attributes that are looked at.
    static let names = SVGStyle.attributes.union(["href", "numOctaves", "order", "kernelMatrix"])

    private let limits: ImageLimits
    private let level: Int
    /// Bytes that the pictures found so far take when they are decoded.
    private(set) var decodedByteCount: Int
    /// What is written over parts of the document.
    private var edits: [(range: Range<Int>, byte: UInt8)] = []
    /// How many elements the document has.
    private(set) var elementCount = 0
    /// Whether the attributes that come are those of a picture.
    private var isPicture = false
    /// Whether each element that is open is a style sheet.
    private var open: [Bool] = []
    /// The text of the style sheet that is open, each of which librsvg reads by itself.
    private var styleSheet: [UInt8] = []

    private init(limits: ImageLimits, level: Int, decodedByteCount: Int) {
        self.limits = limits
        self.level = level
        self.decodedByteCount = decodedByteCount
    }

    /// The document, without embedded pictures that are damaged or of formats that are not shown, and what was seen of it.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``; ``WebImageError/Code/limitExceeded`` for an embedded picture over a
    ///   limit, and when all together are.
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
                // What was left open.
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
            isPicture = name.elementsEqual("image".utf8) || name.elementsEqual("feImage".utf8)
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
            // Beyond 9 octaves nothing can be seen; a convolution of order 0 is left out.
            case "numOctaves": try bound(value, most: 32, replacement: UInt8(ascii: "9"))
            case "order": try bound(value, most: 20, replacement: UInt8(ascii: "0"))
            case "kernelMatrix": try boundMatrix(value)
            default: try SVGStyle.check(attribute: name, value.text)
            }
        }
    }

    /// Puts another number in the place of one that is too great, or that cannot be read.
    private mutating func bound(
        _ value: SVGMarkup.Value,
        most: Double,
        replacement: UInt8
    ) throws(WebImageError) {
        let numbers = String(decoding: value.text, as: UTF8.self).split { $0 == "," || $0.isWhitespace }
        if numbers.allSatisfy({ Double($0).map { $0 <= most } ?? false }) { return }
        try replace(value, by: replacement)
    }

    /// librsvg reads 400 factors and panics when that is not what the order says; one factor for an order of more it
    /// takes for a mistake.
    private mutating func boundMatrix(_ value: SVGMarkup.Value) throws(WebImageError) {
        // Each number but the first begins after one of these, or with it.
        let starts = value.text.count { $0 <= 0x20 || ",+-./".utf8.contains($0) }
        if starts >= 399 { try replace(value, by: UInt8(ascii: "0")) }
    }

    private mutating func replace(_ value: SVGMarkup.Value, by replacement: UInt8) throws(WebImageError) {
        guard let range = value.range else {
            throw WebImageError(.badImageData, "the SVG document is refused: a filter would take too long")
        }
        edits.append((range, replacement))
    }

    /// White space is nothing to those who read addresses.
    private mutating func look(at value: SVGMarkup.Value) throws(WebImageError) {
        let start = value.text.lazy.filter { $0 > 0x20 }.prefix(5)
        guard start.map({ $0 | 0x20 }).elementsEqual("data:".utf8.map { $0 | 0x20 }) else { return }
        let text = String(decoding: value.text.filter { $0 > 0x20 }, as: UTF8.self)
        do throws(WebImageError) {
            try check(try DataURL(text, limit: limits.maximumEncodedByteCount).data)
        } catch  where error.code == .badImageData || error.code == .unsupportedFormat || error.code == .invalidURL {
            // It cannot be shown; the rest of the drawing can.
            guard let range = value.range,
                let first = range.first(where: { value.text[$0 - range.lowerBound] > 0x20 })
            else { throw WebImageError(.badImageData, "the SVG document holds an address in vain: \(error.message)") }
            edits.append((first..<first + 1, UInt8(ascii: "x")))
        }
    }

    private mutating func check(_ picture: Data) throws(WebImageError) {
        let size: (width: Int, height: Int)
        if ImageFormat(detecting: picture) == .svg {
            guard level + 1 < Self.deepest else {
                throw .limitExceeded("SVG documents in one another", allowed: Self.deepest, required: level + 2)
            }
            var inner = SVGScreening(limits: limits, level: level + 1, decodedByteCount: decodedByteCount)
            // Others would make it a part of this one, as big as this one is drawn; browsers do not show that.
            guard isPicture else { throw WebImageError(.badImageData, "it embeds a drawing that is no picture") }
            let screened = try inner.screen(picture)
            // What is to be hidden in it cannot be: it is part of an address.
            guard screened == picture else { throw WebImageError(.badImageData, "it embeds a picture that is damaged") }
            decodedByteCount = inner.decodedByteCount
            size = try SVGDocument(screened).pixelSize()
        } else {
            let properties = try Self.coders.properties(of: picture, limits: limits)
            size = (properties.width, properties.height)
        }
        try limits.check(width: size.width, height: size.height)
        decodedByteCount += size.width * size.height * 4
        try limits.check(decodedByteCount: decodedByteCount)
    }

    private static let coders = ImageCodersManager()
}
