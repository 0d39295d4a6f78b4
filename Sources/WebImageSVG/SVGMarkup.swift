import FoundationEssentials
import WebImage

/// Steps through the markup of an SVG document: elements, how deep they lie, and what their attributes say.
///
/// Knows as much of XML as is needed to see every attribute as librsvg will see it: character references and internal entities
/// in values, defaults and entities from the document type declaration. What could hide an attribute from it, which no
/// drawing program writes, is refused.
struct SVGMarkup {
    /// An attribute's value.
    struct Value {
        /// Without references.
        var text: [UInt8]
        /// Where it stands in the document, when it stands there as it is.
        var range: Range<Int>?
    }

    /// How deep elements may lie in one another, which is also libxml2's limit.
    static let deepest = 256
    /// How much entities may make of a value.
    static let longestExpansion = 1 << 20

    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0
    private var depth = 0
    private var entities: [[UInt8]: [UInt8]]
    private let isDocument: Bool

    init(_ bytes: UnsafeBufferPointer<UInt8>, entities: [[UInt8]: [UInt8]]? = nil) {
        self.bytes = bytes
        self.entities = entities ?? [:]
        isDocument = entities == nil
    }

    /// Calls `visit` with the local name and the value of every attribute.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for markup that is broken, too deep or refused, and what `visit` throws.
    mutating func walk(_ visit: (_ name: ArraySlice<UInt8>, Value) throws(WebImageError) -> Void) throws(WebImageError)
    {
        if isDocument { try checkEncoding() }
        while let start = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) {
            offset = start
            if starts(with: "<!--") {
                try skip(past: "-->")
            } else if starts(with: "<![CDATA[") {
                try skip(past: "]]>")
            } else if starts(with: "<?") {
                try skip(past: "?>")
            } else if starts(with: "<!") {
                try declaration(visit)
            } else if starts(with: "</") {
                depth -= 1
                try skip(past: ">")
            } else {
                try element(visit)
            }
        }
    }

    private static func error(_ reason: String) -> WebImageError {
        WebImageError(.badImageData, "the SVG document is refused: \(reason)")
    }

    private func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    }

    private mutating func skip(past text: StaticString) throws(WebImageError) {
        while offset < bytes.count {
            if starts(with: text) {
                offset += text.utf8CodeUnitCount
                return
            }
            offset += 1
        }
        throw Self.error("its markup ends too early")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private mutating func skipSpace() { while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 } }

    private mutating func name() -> ArraySlice<UInt8> {
        let start = offset
        while offset < bytes.count, !Self.isSpace(bytes[offset]), !Self.endsName(bytes[offset]) { offset += 1 }
        return ArraySlice(bytes[start..<offset])
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "'"),
            UInt8(ascii: "<"), UInt8(ascii: "["):
            true
        default: false
        }
    }

    private static func local(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    private mutating func element(
        _ visit: (ArraySlice<UInt8>, Value) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        offset += 1
        _ = name()
        depth += 1
        guard depth <= Self.deepest else { throw Self.error("its elements are nested too deeply") }
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
                    return
                }
            default:
                let name = name()
                skipSpace()
                guard !name.isEmpty, offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
                    throw Self.error("it has an attribute without a value")
                }
                offset += 1
                skipSpace()
                try visit(Self.local(name), value(of: try literal()))
            }
        }
    }

    /// The range between quotes.
    private mutating func literal() throws(WebImageError) -> Range<Int> {
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

    private func value(of range: Range<Int>) throws(WebImageError) -> Value {
        let raw = bytes[range]
        guard raw.contains(UInt8(ascii: "&")) else { return Value(text: Array(raw), range: range) }
        return Value(text: try expanded(Array(raw), level: 0), range: nil)
    }
}

extension SVGMarkup {
    /// Text without references: those to characters and to entities of the document, and of these theirs.
    private func expanded(_ text: [UInt8], level: Int) throws(WebImageError) -> [UInt8] {
        guard level < 8 else { throw Self.error("its entities are nested too deeply") }
        var result: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: ";")) else {
                throw Self.error("it has a reference without an end")
            }
            result += try replacement(of: rest[(start + 1)..<end], level: level)
            guard result.count <= Self.longestExpansion || level == 0 && result.count <= text.count else {
                throw Self.error("its entities make too much text")
            }
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    private func replacement(of name: ArraySlice<UInt8>, level: Int) throws(WebImageError) -> [UInt8] {
        if name.first == UInt8(ascii: "#") {
            let text = String(decoding: name.dropFirst(), as: UTF8.self)
            let code = text.first == "x" ? UInt32(text.dropFirst(), radix: 16) : UInt32(text)
            guard let code, let scalar = Unicode.Scalar(code) else { throw Self.error("it has a wrong reference") }
            return Array(String(Character(scalar)).utf8)
        }
        let standard: [String: String] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        if let character = standard[String(decoding: name, as: UTF8.self)] { return Array(character.utf8) }
        guard let text = entities[Array(name)] else { throw Self.error("it refers to an entity that it does not have") }
        return try expanded(text, level: level + 1)
    }

    /// A document type declaration with what it holds in brackets.
    private mutating func declaration(
        _ visit: (ArraySlice<UInt8>, Value) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        guard isDocument else { throw Self.error("it has a declaration within an entity") }
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "["), bytes[offset] != UInt8(ascii: ">") {
            let isQuoted = bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'")
            if isQuoted { _ = try literal() } else { offset += 1 }
        }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "[") else { return try skip(past: ">") }
        offset += 1
        while true {
            skipSpace()
            if starts(with: "]") { return try skip(past: ">") }
            if starts(with: "<!--") {
                try skip(past: "-->")
            } else if starts(with: "<?") {
                try skip(past: "?>")
            } else if starts(with: "<!ENTITY") {
                offset += 8
                try entity(visit)
            } else if starts(with: "<!") {
                try otherDeclaration(visit)
            } else {
                throw Self.error("it has a declaration that is not understood")
            }
        }
    }

    private mutating func entity(
        _ visit: (ArraySlice<UInt8>, Value) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        skipSpace()
        let name = Array(name())
        skipSpace()
        guard !name.isEmpty, name.first != UInt8(ascii: "%") else { throw Self.error("it has a parameter entity") }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
            // An entity that lies elsewhere is never read.
            if entities[name] == nil { entities[name] = [] }
            return try skip(past: ">")
        }
        let text = Array(bytes[try literal()])
        // The first declaration counts. References to characters are replaced here, those to entities where it is used.
        if entities[name] == nil { entities[name] = try charactersReplaced(text) }
        try skip(past: ">")
        guard let text = entities[name], text.contains(UInt8(ascii: "<")) else { return }
        let known = entities
        var markup: Result<Void, WebImageError> = .success(())
        text.withUnsafeBufferPointer { bytes in
            var inner = SVGMarkup(bytes, entities: known)
            do throws(WebImageError) {
                try inner.walk { (name, value) throws(WebImageError) in
                    try visit(name, Value(text: value.text, range: nil))
                }
            } catch { markup = .failure(error) }
        }
        try markup.get()
    }

    private func charactersReplaced(_ text: [UInt8]) throws(WebImageError) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            let end = rest[start...].firstIndex(of: UInt8(ascii: ";"))
            if let end, rest[rest.index(after: start)] == UInt8(ascii: "#") {
                result += try replacement(of: rest[(start + 1)..<end], level: 0)
                rest = rest[(end + 1)...]
            } else {
                result.append(rest[start])
                rest = rest[(start + 1)...]
            }
        }
        return result + rest
    }

    /// Lists of attributes have defaults, which count like all the attributes that are looked at.
    private mutating func otherDeclaration(
        _ visit: (ArraySlice<UInt8>, Value) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        while offset < bytes.count, bytes[offset] != UInt8(ascii: ">") {
            guard bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
                offset += 1
                continue
            }
            let text = try value(of: try literal()).text
            for name in SVGScreening.names { try visit(ArraySlice(name.utf8), Value(text: text, range: nil)) }
        }
        try skip(past: ">")
    }

    /// Only encodings in which markup is ASCII: in others it would look different here and there.
    private func checkEncoding() throws(WebImageError) {
        let start = bytes.prefix(3).elementsEqual([0xEF, 0xBB, 0xBF]) ? 3 : 0
        let head = String(decoding: bytes[start...].prefix(256), as: UTF8.self)
        guard head.hasPrefix("<?xml"), let end = head.firstRange(of: "?>")?.lowerBound,
            let found = head[..<end].firstRange(of: "encoding")
        else { return }
        let name = head[found.upperBound..<end].lowercased().drop { "= \t\r\n\"'".contains($0) }
            .prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        let plain = ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso_8859-", "latin1", "windows-125", "koi8-"]
        guard plain.contains(where: { name.hasPrefix($0) }) else { throw Self.error("its encoding is \(name)") }
    }
}
