import WebImage

/// What the rules of a document's style sheets ask for that takes time.
///
/// Of a selector only the last part counts, and of that one name: so a rule is taken to be for all elements that it is for, and
/// perhaps for more.
struct SVGStyleSheet {
    /// Whom a rule is for.
    enum Key: Hashable {
        case all
        case element([UInt8])
        case identifier([UInt8])
        case `class`([UInt8])
    }

    private(set) var rules: [Key: SVGStyle] = [:]

    /// - Throws: ``WebImageError/Code/badImageData`` for what is imported from within an address, where nobody looks at it.
    init(_ text: [UInt8]) throws(WebImageError) {
        var rest = Self.clean(text)[...]
        while let end = rest.firstIndex(where: { "{};".utf8.contains($0) }) {
            let prelude = rest[..<end].drop { $0 <= 0x20 }
            let mark = rest[end]
            rest = rest[(end + 1)...]
            if prelude.first == UInt8(ascii: "@") {
                // What lies in the braces of a rule with this sign are rules again.
                guard !String(decoding: prelude, as: UTF8.self).lowercased().contains("data:") else {
                    throw WebImageError(
                        .badImageData,
                        "the SVG document is refused: it has a style sheet in an address"
                    )
                }
            } else if mark == UInt8(ascii: "{") {
                let close = rest.firstIndex(of: UInt8(ascii: "}")) ?? rest.endIndex
                try add(prelude, rest[..<close])
                rest = rest[close...]
            }
        }
    }

    private mutating func add(_ selectors: ArraySlice<UInt8>, _ body: ArraySlice<UInt8>) throws(WebImageError) {
        var style = SVGStyle()
        try style.set(clean: body)
        guard !style.isEmpty else { return }
        for selector in Self.withoutBrackets(selectors).split(separator: UInt8(ascii: ",")) {
            rules[Self.key(of: selector), default: SVGStyle()].merge(style)
        }
    }

    /// What stands in brackets may look like anything, and only makes fewer of the elements that a selector is for.
    private static func withoutBrackets(_ selectors: ArraySlice<UInt8>) -> [UInt8] {
        var depth = 0
        return selectors.filter { byte in
            let isOpening = "[(".utf8.contains(byte), isClosing = "])".utf8.contains(byte)
            depth = max(depth + (isOpening ? 1 : 0) - (isClosing ? 1 : 0), 0)
            return depth == 0 && !isClosing
        }
    }

    /// By the last element of a selector: its identifier, its class or its name, in that order.
    private static func key(of selector: ArraySlice<UInt8>) -> Key {
        guard let last = selector.split(whereSeparator: { $0 <= 0x20 || ">+~".utf8.contains($0) }).last else {
            return .all
        }
        let plain = last.prefix { $0 != UInt8(ascii: ":") }
        func name(after mark: UInt8) -> [UInt8]? {
            plain.firstIndex(of: mark).map { Array(plain[($0 + 1)...].prefix { !".#".utf8.contains($0) }) }
        }
        if let identifier = name(after: UInt8(ascii: "#")) { return .identifier(identifier) }
        if let first = name(after: UInt8(ascii: ".")) { return .class(first) }
        let local = plain.lastIndex(of: UInt8(ascii: "|")).map { plain[($0 + 1)...] } ?? plain
        return local.isEmpty || local.elementsEqual("*".utf8) ? .all : .element(Array(local))
    }

    /// The text without comments, escapes resolved, and without what looks like structure in strings and addresses.
    static func clean(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var quote: UInt8?
        var isInAddress = false
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            if byte == UInt8(ascii: "\\") {
                result += escaped(text, &offset)
                continue
            }
            offset += 1
            if let open = quote {
                if byte == open || byte == 0x0A { quote = nil }
                result.append(isStructure(byte) ? 0x20 : byte)
            } else if isInAddress {
                if byte == UInt8(ascii: ")") { isInAddress = false }
                result.append(isStructure(byte) ? 0x20 : byte)
            } else if byte == UInt8(ascii: "/"), offset < text.count, text[offset] == UInt8(ascii: "*") {
                offset += 1
                while offset < text.count, !(text[offset] == UInt8(ascii: "/") && text[offset - 1] == UInt8(ascii: "*"))
                {
                    offset += 1
                }
                offset += 1
            } else {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
                if byte == UInt8(ascii: "("), String(decoding: result.suffix(3), as: UTF8.self).lowercased() == "url" {
                    let next = text[offset...].first { $0 > 0x20 }
                    isInAddress = next != UInt8(ascii: "\"") && next != UInt8(ascii: "'")
                }
                result.append(byte)
            }
        }
        return result
    }

    private static func isStructure(_ byte: UInt8) -> Bool { "{};".utf8.contains(byte) }

    /// What is escaped is part of a name, whatever it looks like.
    private static func escaped(_ text: [UInt8], _ offset: inout Int) -> [UInt8] {
        offset += 1
        let digits = text[min(offset, text.count)...].prefix(6).prefix {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF)
        }
        guard !digits.isEmpty else {
            defer { offset += 1 }
            guard offset < text.count else { return [] }
            return "{}();:,\"'".utf8.contains(text[offset]) || text[offset] <= 0x20
                ? [UInt8(ascii: "_")] : [text[offset]]
        }
        offset += digits.count
        if offset < text.count, text[offset] <= 0x20 { offset += 1 }
        let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
        guard let code, code.value > 0x20, !"{}();:,\"'".unicodeScalars.contains(code) else {
            return [UInt8(ascii: "_")]
        }
        return Array(String(Character(code)).utf8)
    }
}
