/// Detects an SVG document by its root element, or by its last tag if the root is beyond the search limit.
package enum SVGSniffer {
    /// The number of bytes in which the root element is searched for.
    private static let searchLength = 64 << 10
    /// The number of bytes at the end that may hold the closing tag.
    private static let tailLength = 100

    static func isSVG(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = Reader(bytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(searchLength)))
        if reader.starts(with: [0xEF, 0xBB, 0xBF]) { reader.offset += 3 }
        reader.skipWhitespace()
        guard reader.starts(with: "<".utf8) else { return false }
        switch reader.findRoot() {
        case .svg: return true
        case .other: return false
        case .outOfSight: return endsWithClosingTag(bytes)
        }
    }

    /// Returns whether the document ends with `</svg>`, ignoring white space. Anything after it would make it a page that shows an
    /// SVG.
    private static func endsWithClosingTag(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var end = bytes.count
        let start = max(0, bytes.count - tailLength)
        while end > start, Reader.isWhitespace(bytes[end - 1]) { end -= 1 }
        let tag = "</svg>".utf8
        return end - start >= tag.count && bytes[(end - tag.count)..<end].elementsEqual(tag)
    }

    package enum Root { case svg, other, outOfSight }

    /// Returns the kind of root element, as far as the beginning of a document shows it.
    package static func root(of bytes: UnsafeRawBufferPointer) -> Root {
        var reader = Reader(bytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(searchLength)))
        if reader.starts(with: [0xEF, 0xBB, 0xBF]) { reader.offset += 3 }
        reader.skipWhitespace()
        return reader.findRoot()
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        package var offset = 0

        static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

        package func starts(with text: some Collection<UInt8>) -> Bool { bytes.dropFirst(offset).starts(with: text) }

        mutating func skipWhitespace() {
            while offset < bytes.count, Self.isWhitespace(bytes[offset]) { offset += 1 }
        }

        /// Moves behind the next occurrence of `text`; false if it is not found.
        mutating func skip(past text: some Collection<UInt8>) -> Bool {
            while offset + text.count <= bytes.count {
                if starts(with: text) {
                    offset += text.count
                    return true
                }
                offset += 1
            }
            return false
        }

        /// Moves behind a document type declaration, whose internal subset in brackets may contain tags and quotes.
        mutating func skipDeclaration() -> Bool {
            var depth = 0
            while offset < bytes.count {
                let byte = bytes[offset]
                offset += 1
                switch byte {
                case UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: ">") where depth <= 0: return true
                default: break
                }
            }
            return false
        }

        mutating func findRoot() -> Root {
            while offset < bytes.count {
                skipWhitespace()
                let found: Bool
                if starts(with: "<?".utf8) {
                    found = skip(past: "?>".utf8)
                } else if starts(with: "<!--".utf8) {
                    found = skip(past: "-->".utf8)
                } else if starts(with: "<!".utf8) {
                    found = skipDeclaration()
                } else {
                    return rootElement()
                }
                if !found { return .outOfSight }
            }
            return .outOfSight
        }

        /// Returns whether the element at the position is named `svg`, with or without a namespace prefix.
        private func rootElement() -> Root {
            guard starts(with: "<".utf8) else { return offset < bytes.count ? .other : .outOfSight }
            let rest = bytes.dropFirst(offset + 1).prefix(64)
            let name = rest.prefix { !Self.isWhitespace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
            let local = name.split(separator: UInt8(ascii: ":")).last ?? name
            return local.elementsEqual("svg".utf8) ? .svg : .other
        }
    }
}
