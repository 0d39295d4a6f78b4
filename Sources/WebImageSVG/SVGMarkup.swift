import FoundationEssentials
import WebImageCodecs

/// Parses the markup of an SVG document: elements, their depth, and their attributes.
///
/// Supports as much of XML as is needed to see every attribute as librsvg sees it: character references and internal entities in values, defaults and
/// entities from the document type declaration. Constructs that could hide an attribute, which drawing programs do not write, are refused.
struct SVGMarkup {
    /// A parsing event.
    enum Event {
        case open(name: ArraySlice<UInt8>)
        case attribute(name: ArraySlice<UInt8>, Value)
        case close
        /// The text between elements, in pieces.
        case text(ArraySlice<UInt8>)
    }

    typealias Visitor = (Event) throws(WebImageError) -> Void

    /// An attribute's value.
    struct Value {
        /// The value with references replaced.
        var text: [UInt8]
        /// The range in the document, if the value is there literally.
        var range: Range<Int>?
    }

    /// The maximum depth of nested elements, which is also libxml2's limit.
    static let deepest = 256
    /// The maximum length of a value with entities replaced.
    static let longestExpansion = 1 << 20
    /// The maximum depth of nested entities.
    static let deepestEntity = 8
    /// The maximum number of attributes of an element, and of defaults from the document type declaration: libxml2 compares each with all others.
    static let mostAttributes = 1024
    static let mostDefaults = 64

    let bytes: UnsafeBufferPointer<UInt8>
    var offset = 0
    var depth = 0
    var entities: [[UInt8]: [UInt8]] = [:]
    /// The number of entities around this text; 0 for the document.
    let level: Int
    /// The number of bytes that entities may still produce.
    var expansionLeft: Int
    /// The number of attribute defaults so far.
    var defaultCount = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        level = 0
        // Some programs write styles as entities that are used many times.
        expansionLeft = max(8 * bytes.count, 4 * Self.longestExpansion)
    }

    /// Creates a parser for the text of an entity that is referenced in `outer`.
    init(_ bytes: UnsafeBufferPointer<UInt8>, within outer: SVGMarkup) {
        self.bytes = bytes
        (entities, depth, level) = (outer.entities, outer.depth, outer.level + 1)
        expansionLeft = outer.expansionLeft
    }

    /// Calls `visit` with all elements, the attributes that librsvg uses (by their local names) and text, including those from entities.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for markup that is broken, too deep or refused, and the errors of `visit`.
    mutating func walk(_ visit: Visitor) throws(WebImageError) {
        if level == 0 { try checkEncoding() }
        while let start = bytes[offset...].firstIndex(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) {
            if start > offset { try visit(.text(ArraySlice(bytes[offset..<start]))) }
            offset = start
            if bytes[start] == UInt8(ascii: "&") {
                try reference(visit)
            } else if starts(with: "<!--") {
                try skip(past: "-->")
            } else if starts(with: "<![CDATA[") {
                let text = offset + 9
                try skip(past: "]]>")
                if offset - 3 > text { try visit(.text(ArraySlice(bytes[text..<offset - 3]))) }
            } else if starts(with: "<?") {
                try instruction()
            } else if starts(with: "<!") {
                try declaration(visit)
            } else if starts(with: "</") {
                depth -= 1
                try skip(past: ">")
                try visit(.close)
            } else {
                try element(visit)
            }
        }
        if offset < bytes.count { try visit(.text(ArraySlice(bytes[offset...]))) }
    }

    /// Refuses a style sheet in a `data:` URL, which would not be screened.
    private mutating func instruction() throws(WebImageError) {
        let start = offset
        try skip(past: "?>")
        // URL parsers ignore white space.
        let text = String(decoding: bytes[start..<offset].filter { $0 > 0x20 }, as: UTF8.self).lowercased()
        guard !text.hasPrefix("<?xml-stylesheet") || !(text.contains("data:") || text.contains("&")) else {
            throw Self.error("it has a style sheet in a URL")
        }
    }

    static func error(_ reason: String) -> WebImageError {
        WebImageError(.badImageData, "the SVG document is refused: \(reason)")
    }

    func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    }

    mutating func skip(past text: StaticString) throws(WebImageError) {
        while offset < bytes.count {
            if starts(with: text) {
                offset += text.utf8CodeUnitCount
                return
            }
            offset += 1
        }
        throw Self.error("its markup ends too early")
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    mutating func skipSpace() { while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 } }

    mutating func name() -> ArraySlice<UInt8> {
        let start = offset
        while offset < bytes.count, !Self.isSpace(bytes[offset]), !Self.endsName(bytes[offset]) { offset += 1 }
        return ArraySlice(bytes[start..<offset])
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "'"),
            UInt8(ascii: "<"), UInt8(ascii: "["), UInt8(ascii: "&"), UInt8(ascii: ";"):
            true
        default: false
        }
    }

    static func local(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    private mutating func element(_ visit: Visitor) throws(WebImageError) {
        offset += 1
        let element = name()
        depth += 1
        guard depth <= Self.deepest else { throw Self.error("its elements are nested too deeply") }
        try visit(.open(name: Self.local(element)))
        var count = 0
        while true {
            skipSpace()
            guard offset < bytes.count else { throw Self.error("its markup ends too early") }
            switch bytes[offset] {
            case UInt8(ascii: ">"):
                offset += 1
                return
            case UInt8(ascii: "/"):
                offset += 1
                if offset < bytes.count, bytes[offset] == UInt8(ascii: ">") {
                    depth -= 1
                    offset += 1
                    return try visit(.close)
                }
            default:
                let name = name()
                skipSpace()
                guard !name.isEmpty, offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
                    throw Self.error("it has an attribute without a value")
                }
                offset += 1
                skipSpace()
                count += 1
                guard count <= Self.mostAttributes else { throw Self.error("an element has too many attributes") }
                let (local, value) = (Self.local(name), try value(of: try literal()))
                // librsvg uses prefixed attributes only for links, and refuses undeclared prefixes.
                if local.count == name.count || local.elementsEqual("href".utf8) {
                    try visit(.attribute(name: local, value))
                }
            }
        }
    }

    /// Returns the range between quotes.
    mutating func literal() throws(WebImageError) -> Range<Int> {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
            throw Self.error("it has a value without quotes")
        }
        let start = offset + 1
        guard let end = bytes[start...].firstIndex(of: bytes[offset]) else {
            throw Self.error("its markup ends too early")
        }
        offset = end + 1
        return start..<end
    }

    mutating func value(of range: Range<Int>) throws(WebImageError) -> Value {
        let raw = bytes[range]
        guard raw.contains(UInt8(ascii: "&")) else { return Value(text: Array(raw), range: range) }
        return Value(text: try expanded(Array(raw), level: 0), range: nil)
    }
}
