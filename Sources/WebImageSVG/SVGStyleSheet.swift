import WebImageCodecs

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
    private(set) var selectors: [Selector] = []
    /// References that rules have brought, each for each selector.
    private var referenceCount = 0

    private static let mostSelectors = 1 << 20
    private static let mostReferences = 1 << 20

    /// - Throws: ``WebImageError/Code/badImageData`` for what is imported from within an address, where nobody looks at it;
    ///   ``WebImageError/Code/limitExceeded``.
    init(_ text: [UInt8]) throws(WebImageError) {
        var rest = Self.clean(text)[...]
        while let end = rest.firstIndex(where: { "{};".utf8.contains($0) }) {
            let prelude = rest[..<end].drop { $0 <= 0x20 }
            let mark = rest[end]
            rest = rest[(end + 1)...]
            if prelude.first == UInt8(ascii: "@") {
                // What lies in the braces of a rule with this sign are rules again.
                let text = String(decoding: prelude.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
                guard !text.contains("data:") else {
                    throw WebImageError(
                        .badImageData,
                        "the SVG document is refused: it has a style sheet in an address"
                    )
                }
            } else if mark == UInt8(ascii: "{") {
                let close = Self.endOfBlock(rest)
                try add(prelude, rest[..<close])
                rest = rest[close...]
            }
        }
    }

    /// Where the brace is closed behind which a text begins: pairs of any kind may lie between, in each of which only its own end
    /// counts.
    private static func endOfBlock(_ text: ArraySlice<UInt8>) -> Int {
        var open = [UInt8(ascii: "}")]
        for (offset, byte) in zip(text.indices, text) {
            switch byte {
            case UInt8(ascii: "{"): open.append(UInt8(ascii: "}"))
            case UInt8(ascii: "("): open.append(UInt8(ascii: ")"))
            case UInt8(ascii: "["): open.append(UInt8(ascii: "]"))
            case open.last:
                open.removeLast()
                if open.isEmpty { return offset }
            default: break
            }
        }
        return text.endIndex
    }

    private mutating func add(_ selectors: ArraySlice<UInt8>, _ body: ArraySlice<UInt8>) throws(WebImageError) {
        var style = SVGStyle()
        try style.set(clean: body)
        let bracketed = Selector.Walk(selectors)
        for selector in Self.withoutBrackets(selectors).split(separator: UInt8(ascii: ",")) {
            let key = Self.key(of: selector)
            self.selectors.append(Selector(key: key, walk: Selector.Walk(selector).union(bracketed), selector.count))
            try Self.check(self.selectors.count, most: Self.mostSelectors)
            guard !style.isEmpty else { continue }
            referenceCount += style.references.count
            try Self.check(referenceCount, most: Self.mostReferences)
            rules[key, default: SVGStyle()].merge(style)
        }
    }

    private static func check(_ count: Int, most: Int) throws(WebImageError) {
        guard count <= most else {
            throw .limitExceeded("rules of the SVG document", allowed: most, required: count)
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
        let text = withUniformLines(text)
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var quote: UInt8?
        var isInAddress = false
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            if byte == UInt8(ascii: "\\") {
                result += escaped(text, &offset, isInText: quote != nil || isInAddress)
                continue
            }
            offset += 1
            if let open = quote {
                let isEnd = byte == open || byte == 0x0A
                if isEnd { quote = nil }
                result.append(isEnd || byte == 0x20 ? byte : inText(byte))
            } else if isInAddress {
                let isEnd = byte == UInt8(ascii: ")")
                if isEnd { isInAddress = false }
                result.append(isEnd || byte == 0x20 ? byte : inText(byte))
            } else if byte == UInt8(ascii: "/"), offset < text.count, text[offset] == UInt8(ascii: "*") {
                // The asterisk that begins it does not end it.
                offset += 2
                while offset < text.count, !(text[offset] == UInt8(ascii: "/") && text[offset - 1] == UInt8(ascii: "*"))
                {
                    offset += 1
                }
                offset += 1
                // Names do not go on behind it.
                result.append(0x20)
            } else {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
                if byte == UInt8(ascii: "("), endsWithAddressName(result) {
                    let next = text[offset...].first { $0 > 0x20 }
                    isInAddress = next != UInt8(ascii: "\"") && next != UInt8(ascii: "'")
                }
                result.append(byte)
            }
        }
        return result
    }

    /// Line breaks of all kinds as one.
    private static func withUniformLines(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { $0 == 0x0D || $0 == 0x0C }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isAfterReturn = false
        for byte in text {
            if byte != 0x0A || !isAfterReturn { result.append(byte == 0x0D || byte == 0x0C ? 0x0A : byte) }
            isAfterReturn = byte == 0x0D
        }
        return result
    }

    /// Whether a text ends with the name `url`, and not with a longer one.
    private static func endsWithAddressName(_ text: [UInt8]) -> Bool {
        guard String(decoding: text.suffix(3), as: UTF8.self).lowercased() == "url" else { return false }
        guard let before = text.dropLast(3).last else { return true }
        return !isName(before) && !"@#".utf8.contains(before)
    }

    /// What would look like structure, or like the end of an address, stands as something that XML does not have.
    private static let hidden = Array("{};()\"' ".utf8)

    private static func inText(_ byte: UInt8) -> UInt8 {
        hidden.firstIndex(of: byte).map { UInt8($0 + 1) } ?? byte
    }

    /// A part of a text as it was before ``clean(_:)``.
    static func original(_ text: some Collection<UInt8>) -> [UInt8] {
        text.map { $0 > 0 && Int($0) <= hidden.count ? hidden[Int($0) - 1] : $0 }
    }

    static func isName(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte > 0x7F || "-_".utf8.contains(byte)
    }

    /// What is escaped is part of a name, whatever it looks like, or of a text, which may be an address.
    private static func escaped(_ text: [UInt8], _ offset: inout Int, isInText: Bool) -> [UInt8] {
        offset += 1
        let digits = text[min(offset, text.count)...].prefix(6).prefix {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF)
        }
        let bytes: [UInt8]
        if digits.isEmpty {
            defer { offset += 1 }
            // An escaped line break is none.
            guard offset < text.count, text[offset] != 0x0A else { return [] }
            bytes = [text[offset]]
        } else {
            offset += digits.count
            if offset < text.count, text[offset] <= 0x20 { offset += 1 }
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
            bytes = code.map { Array(String(Character($0)).utf8) } ?? [UInt8(ascii: "_")]
        }
        let isControl = bytes.contains { $0 < 0x20 }
        guard isInText, !isControl else { return bytes.map { isName($0) ? $0 : UInt8(ascii: "_") } }
        return bytes.map(inText)
    }
}
