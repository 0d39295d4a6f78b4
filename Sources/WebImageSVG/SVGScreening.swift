import CSVGShims
import FoundationEssentials
import WebImage

/// Looks at what a document embeds before librsvg does, which would decode pictures of any size.
struct SVGScreening {
    /// How deep documents may be embedded in one another.
    static let deepest = 3

    private let limits: ImageLimits
    private let level: Int
    /// Bytes that the pictures found so far take when they are decoded.
    private(set) var decodedByteCount: Int
    /// Where the addresses of pictures lie that are not to be shown.
    private var hidden: [Int] = []

    private init(limits: ImageLimits, level: Int, decodedByteCount: Int) {
        self.limits = limits
        self.level = level
        self.decodedByteCount = decodedByteCount
    }

    /// The document, without embedded pictures that are damaged or of formats that are not shown.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``; ``WebImageError/Code/limitExceeded`` for an embedded picture over a
    ///   limit, and when all together are.
    static func screened(_ document: Data, limits: ImageLimits) throws(WebImageError) -> Data {
        var screening = SVGScreening(limits: limits, level: 0, decodedByteCount: 0)
        return try screening.screen(document)
    }

    private mutating func screen(_ document: Data) throws(WebImageError) -> Data {
        guard ImageFormat(detecting: document) == .svg else {
            throw WebImageError(.badImageData, "the data is not an SVG document")
        }
        var failure: WebImageError?
        document.withUnsafeBytes { bytes in
            var markup = SVGMarkup(bytes.bindMemory(to: UInt8.self))
            do throws(WebImageError) {
                try markup.walk { (name, value) throws(WebImageError) in
                    guard name.elementsEqual("href".utf8) else { return }
                    try look(at: value)
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        guard !hidden.isEmpty else { return document }
        var copy = document
        for offset in hidden { copy[copy.startIndex + offset] = UInt8(ascii: "x") }
        return copy
    }

    /// White space is nothing to those who read addresses.
    private mutating func look(at value: SVGMarkup.Value) throws(WebImageError) {
        let start = value.text.prefix(1024).filter { $0 > 0x20 }.prefix(5)
        guard start.map({ $0 | 0x20 }).elementsEqual("data:".utf8.map { $0 | 0x20 }) else { return }
        let text = String(decoding: value.text.filter { $0 > 0x20 }, as: UTF8.self)
        do throws(WebImageError) {
            try check(try DataURL(text, limit: limits.maximumEncodedByteCount).data)
        } catch  where error.code == .badImageData || error.code == .unsupportedFormat || error.code == .invalidURL {
            // It cannot be shown; the rest of the drawing can.
            guard let range = value.range,
                let first = range.first(where: { value.text[$0 - range.lowerBound] > 0x20 })
            else { throw error }
            hidden.append(first)
        }
    }

    private mutating func check(_ picture: Data) throws(WebImageError) {
        let size: (width: Int, height: Int)
        if ImageFormat(detecting: picture) == .svg {
            guard level + 1 < Self.deepest else {
                throw .limitExceeded("SVG documents in one another", allowed: Self.deepest, required: level + 2)
            }
            var inner = SVGScreening(limits: limits, level: level + 1, decodedByteCount: decodedByteCount)
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
