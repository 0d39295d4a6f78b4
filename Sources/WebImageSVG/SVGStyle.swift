import WebImageCodecs

/// Finds `data:` URLs in styles, which can contain an unscreened document or style sheet.
///
/// A filter, a pattern or a style sheet in a URL may embed images of any size, or refer to others that do. No drawing program writes that, so such a
/// document is refused. URLs of fonts, cursors and the like, which librsvg does not read, are allowed.
enum SVGStyle {
    /// The properties by which an element refers to another one, possibly in another document. They are also attributes.
    static let properties: Set<String> = [
        "filter", "mask", "clip-path", "fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end",
    ]
    /// The attributes that are checked.
    static let attributes = properties.union(["style"])

    /// Checks the value of an attribute.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    static func check(attribute: String, _ value: [UInt8]) throws(WebImageError) {
        if attribute == "style" {
            try check(sheet: value)
        } else if properties.contains(attribute), value.contains(UInt8(ascii: "(")) {
            try check(property: clean(value)[...])
        }
    }

    /// Checks a style sheet, or declarations.
    ///
    /// Braces are not parsed: a declaration may begin after each brace, as after a semicolon.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    static func check(sheet: [UInt8]) throws(WebImageError) {
        // An escaped one is part of a name.
        guard sheet.contains(where: { "(@".utf8.contains($0) }) else { return }
        for part in clean(sheet).split(whereSeparator: { "{};".utf8.contains($0) }) {
            if let sign = part.firstIndex(of: UInt8(ascii: "@")), word(part[sign...]).contains("data:") {
                throw SVGMarkup.error("it has a style sheet in a URL")
            }
            guard let colon = part.firstIndex(of: UInt8(ascii: ":")), properties.contains(word(part[..<colon]))
            else { continue }
            try check(property: part[part.index(after: colon)...])
        }
    }

    private static func check(property value: ArraySlice<UInt8>) throws(WebImageError) {
        for open in value.indices where value[open] == UInt8(ascii: "(") {
            let address = value[(open + 1)...].lazy.filter { $0 > 0x20 && !"\"'".utf8.contains($0) }
            guard word(address.prefix(5)) != "data:" else { throw SVGMarkup.error("it refers into a data: URL") }
        }
    }

    /// Returns a text in lower case and without white space, which URL parsers ignore.
    private static func word(_ text: some Sequence<UInt8>) -> String {
        String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
    }
}

/// The tokenisation of style sheets.
extension SVGStyle {
    /// Returns the text without comments, with escapes resolved, and with structural characters in strings and URLs masked.
    private static func clean(_ text: [UInt8]) -> [UInt8] {
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
                result.append(isEnd ? byte : inText(byte))
            } else if isInAddress {
                let isEnd = byte == UInt8(ascii: ")")
                if isEnd { isInAddress = false }
                result.append(isEnd ? byte : inText(byte))
            } else if byte == UInt8(ascii: "/"), offset < text.count, text[offset] == UInt8(ascii: "*") {
                // The asterisk that opens a comment does not close it.
                offset += 2
                while offset < text.count, !(text[offset] == UInt8(ascii: "/") && text[offset - 1] == UInt8(ascii: "*"))
                {
                    offset += 1
                }
                offset += 1
                // A comment separates names.
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

    /// Returns the text with line breaks of all kinds as line feeds.
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

    /// Returns whether a text ends with the name `url`, and not with a longer one.
    private static func endsWithAddressName(_ text: [UInt8]) -> Bool {
        guard String(decoding: text.suffix(3), as: UTF8.self).lowercased() == "url" else { return false }
        guard let before = text.dropLast(3).last else { return true }
        return !isName(before) && !"@#".utf8.contains(before)
    }

    /// Masks structural characters, and those that could end a URL, with a character that XML does not allow.
    private static func inText(_ byte: UInt8) -> UInt8 { "{};()\"'".utf8.contains(byte) ? 1 : byte }

    private static func isName(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte > 0x7F || "-_".utf8.contains(byte)
    }

    /// Reads an escape. An escaped character is part of a name, whatever it looks like, or of a text, which may be a URL.
    private static func escaped(_ text: [UInt8], _ offset: inout Int, isInText: Bool) -> [UInt8] {
        offset += 1
        let digits = text[min(offset, text.count)...].prefix(6).prefix {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF)
        }
        let bytes: [UInt8]
        if digits.isEmpty {
            defer { offset += 1 }
            // An escaped line break is removed.
            guard offset < text.count, text[offset] != 0x0A else { return [] }
            bytes = [text[offset]]
        } else {
            offset += digits.count
            if offset < text.count, text[offset] <= 0x20 { offset += 1 }
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
            bytes = code.map { Array(String(Character($0)).utf8) } ?? [UInt8(ascii: "_")]
        }
        // Control characters, which URLs ignore, are removed with white space.
        return bytes.map { isInText ? inText($0) : isName($0) ? $0 : UInt8(ascii: "_") }
    }
}
