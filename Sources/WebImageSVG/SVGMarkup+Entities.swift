import FoundationEssentials
import WebImageCodecs

/// Entities and declarations.
extension SVGMarkup {
    /// Handles a reference within content. Its replacement has the depth of the reference.
    mutating func reference(_ visit: Visitor) throws(WebImageError) {
        offset += 1
        let name = name()
        guard starts(with: ";") else { throw Self.error("it has an unterminated reference") }
        offset += 1
        let isStandard = Self.standard[String(decoding: name, as: UTF8.self)] != nil
        guard let text = entities[Array(name)], !isStandard, name.first != UInt8(ascii: "#") else {
            // References that are neither standard nor declared in the document are replaced by nothing.
            return try visit(.text(ArraySlice((try? replacement(of: name, level: 0)) ?? [])))
        }
        try use(text.count)
        guard level < Self.deepestEntity else { throw Self.error("its entities are nested too deeply") }
        var result: Result<Int, WebImageError> = .success(0)
        let outer = self
        text.withUnsafeBufferPointer { bytes in
            var inner = SVGMarkup(bytes, within: outer)
            do throws(WebImageError) {
                try inner.walk { (event) throws(WebImageError) in
                    guard case .attribute(let name, let value) = event else { return try visit(event) }
                    // The value is in the entity, not at this place of the document.
                    try visit(.attribute(name: name, Value(text: value.text, range: nil)))
                }
                guard inner.depth == outer.depth else {
                    throw Self.error("an entity does not close its elements")
                }
                result = .success(inner.expansionLeft)
            } catch { result = .failure(error) }
        }
        expansionLeft = try result.get()
    }

    /// Counts bytes against the limit of text from entities.
    mutating func use(_ count: Int) throws(WebImageError) {
        expansionLeft -= count
        guard expansionLeft >= 0 else { throw Self.error("its entities expand to too much text") }
    }

    /// The entities that every document has without declaration.
    private static let standard: [String: String] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
    /// The maximum length of a character reference.
    private static let longestCharacter = 32

    /// Returns a text with references replaced: those to characters and to the document's entities, recursively.
    mutating func expanded(_ text: [UInt8], level: Int) throws(WebImageError) -> [UInt8] {
        guard level < Self.deepestEntity else { throw Self.error("its entities are nested too deeply") }
        var result: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: ";")) else {
                throw Self.error("it has an unterminated reference")
            }
            result += try replacement(of: rest[(start + 1)..<end], level: level)
            guard result.count <= Self.longestExpansion || level == 0 && result.count <= text.count else {
                throw Self.error("its entities expand to too much text")
            }
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    mutating func replacement(of name: ArraySlice<UInt8>, level: Int) throws(WebImageError) -> [UInt8] {
        if name.first == UInt8(ascii: "#") {
            let text = String(decoding: name.dropFirst(), as: UTF8.self)
            let code = text.first == "x" ? UInt32(text.dropFirst(), radix: 16) : UInt32(text)
            guard let code, let scalar = Unicode.Scalar(code) else { throw Self.error("it has an invalid reference") }
            return Array(String(Character(scalar)).utf8)
        }
        if let character = Self.standard[String(decoding: name, as: UTF8.self)] { return Array(character.utf8) }
        guard let text = entities[Array(name)] else { throw Self.error("it refers to an undeclared entity") }
        // References without a replacement also take time.
        try use(text.count)
        return try expanded(text, level: level + 1)
    }

    /// Reads a document type declaration with its internal subset.
    mutating func declaration(_ visit: Visitor) throws(WebImageError) {
        guard level == 0 else { throw Self.error("it has a declaration within an entity") }
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
                try entity()
            } else if starts(with: "<!") {
                try otherDeclaration(visit)
            } else {
                throw Self.error("it has an unsupported declaration")
            }
        }
    }

    private mutating func entity() throws(WebImageError) {
        skipSpace()
        let name = Array(name())
        skipSpace()
        guard !name.isEmpty, name.first != UInt8(ascii: "%") else { throw Self.error("it has a parameter entity") }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
            // External entities are never read.
            if entities[name] == nil { entities[name] = [] }
            return try skip(past: ">")
        }
        let text = Array(bytes[try literal()])
        // The first declaration counts. Character references are replaced here, references to entities at their use.
        if entities[name] == nil { entities[name] = try charactersReplaced(text) }
        try skip(past: ">")
    }

    private mutating func charactersReplaced(_ text: [UInt8]) throws(WebImageError) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            if rest[start...].dropFirst().first == UInt8(ascii: "#") {
                guard let end = rest[start...].prefix(Self.longestCharacter).firstIndex(of: UInt8(ascii: ";")) else {
                    throw Self.error("it has an unterminated reference")
                }
                result += try replacement(of: rest[(start + 1)..<end], level: 0)
                rest = rest[(end + 1)...]
            } else {
                result.append(rest[start])
                rest = rest[(start + 1)...]
            }
        }
        return result + rest
    }

    /// Reads attribute list declarations. Their defaults count like all other attributes.
    private mutating func otherDeclaration(_ visit: Visitor) throws(WebImageError) {
        var mentioned: Set<String> = []
        while offset < bytes.count, bytes[offset] != UInt8(ascii: ">") {
            guard bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
                let word = name()
                let local = Self.local(word)
                let name = local.elementsEqual("href".utf8) ? local : word
                mentioned.insert(String(decoding: name, as: UTF8.self))
                if word.isEmpty { offset += 1 }
                continue
            }
            let text = try value(of: try literal()).text
            defaultCount += 1
            guard defaultCount <= Self.mostDefaults else { throw Self.error("too many attributes have defaults") }
            for name in SVGScreening.names where mentioned.contains(name) {
                try visit(.attribute(name: ArraySlice(name.utf8), Value(text: text, range: nil)))
            }
        }
        try skip(past: ">")
    }

    /// Checks that markup is ASCII in the document's encoding: in others, librsvg and this code would see different markup.
    func checkEncoding() throws(WebImageError) {
        let start = bytes.prefix(3).elementsEqual([0xEF, 0xBB, 0xBF]) ? 3 : 0
        // With any amount of white space.
        let isDeclared =
            bytes[start...].starts(with: "<?xml".utf8) && bytes[start...].dropFirst(5).first.map(Self.isSpace) == true
        let declaration = isDeclared ? bytes[start...].prefix { $0 != UInt8(ascii: ">") } : bytes[..<0]
        let head = String(decoding: declaration, as: UTF8.self)
        guard let end = head.lastIndex(of: "?"),
            let found = head[..<end].firstRange(of: "encoding")
        else { return }
        let name = head[found.upperBound..<end].lowercased().drop { "= \t\r\n\"'".contains($0) }
            .prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        let plain = ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso_8859-", "latin1", "windows-125", "koi8-"]
        guard plain.contains(where: { name.hasPrefix($0) }) else { throw Self.error("unsupported encoding \(name)") }
    }
}
