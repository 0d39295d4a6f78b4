import FoundationEssentials
import WebImageCodecs

/// Entities and declarations.
extension SVGMarkup {
    /// A reference in the midst of content. What it stands for lies as deep as it does itself.
    mutating func reference(_ visit: Visitor) throws(WebImageError) {
        offset += 1
        let name = name()
        guard starts(with: ";") else { throw Self.error("it has a reference without an end") }
        offset += 1
        let isStandard = Self.standard[String(decoding: name, as: UTF8.self)] != nil
        guard let text = entities[Array(name)], !isStandard, name.first != UInt8(ascii: "#") else {
            // Others than those that XML knows and those of the document come to nothing.
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
                    // It stands somewhere else than here.
                    try visit(.attribute(name: name, Value(text: value.text, range: nil)))
                }
                guard inner.depth == outer.depth else {
                    throw Self.error("an entity does not close what it opens")
                }
                result = .success(inner.expansionLeft)
            } catch { result = .failure(error) }
        }
        expansionLeft = try result.get()
    }

    /// Takes so many bytes from those that entities may make.
    mutating func use(_ count: Int) throws(WebImageError) {
        expansionLeft -= count
        guard expansionLeft >= 0 else { throw Self.error("its entities make too much text") }
    }

    /// Those that every document has, whatever it declares.
    private static let standard: [String: String] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
    /// How long a reference to a character may be.
    private static let longestCharacter = 32

    /// Text without references: those to characters and to entities of the document, and of these theirs.
    mutating func expanded(_ text: [UInt8], level: Int) throws(WebImageError) -> [UInt8] {
        guard level < Self.deepestEntity else { throw Self.error("its entities are nested too deeply") }
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

    mutating func replacement(of name: ArraySlice<UInt8>, level: Int) throws(WebImageError) -> [UInt8] {
        if name.first == UInt8(ascii: "#") {
            let text = String(decoding: name.dropFirst(), as: UTF8.self)
            let code = text.first == "x" ? UInt32(text.dropFirst(), radix: 16) : UInt32(text)
            guard let code, let scalar = Unicode.Scalar(code) else { throw Self.error("it has a wrong reference") }
            return Array(String(Character(scalar)).utf8)
        }
        if let character = Self.standard[String(decoding: name, as: UTF8.self)] { return Array(character.utf8) }
        guard let text = entities[Array(name)] else { throw Self.error("it refers to an entity that it does not have") }
        // Also what comes to nothing takes time.
        try use(text.count)
        return try expanded(text, level: level + 1)
    }

    /// A document type declaration with what it holds in brackets.
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
                throw Self.error("it has a declaration that is not understood")
            }
        }
    }

    private mutating func entity() throws(WebImageError) {
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
    }

    private mutating func charactersReplaced(_ text: [UInt8]) throws(WebImageError) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            if rest[start...].dropFirst().first == UInt8(ascii: "#") {
                guard let end = rest[start...].prefix(Self.longestCharacter).firstIndex(of: UInt8(ascii: ";")) else {
                    throw Self.error("it has a reference without an end")
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

    /// Lists of attributes have defaults, which count like all the attributes that are looked at.
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

    /// Only encodings in which markup is ASCII: in others it would look different here and there.
    func checkEncoding() throws(WebImageError) {
        let start = bytes.prefix(3).elementsEqual([0xEF, 0xBB, 0xBF]) ? 3 : 0
        // However much white space is in it.
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
        guard plain.contains(where: { name.hasPrefix($0) }) else { throw Self.error("its encoding is \(name)") }
    }
}
