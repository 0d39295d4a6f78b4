/// Assembles response heads from lines, as the transport delivers them, within limits of size and field count.
///
/// The limits apply to all heads of a transfer together (interim responses, redirects, trailers), so that a server cannot send
/// heads forever.
struct ResponseHeadParser {
    let maximumByteCount: Int
    let maximumFieldCount: Int
    private(set) var statusCode = 0
    private(set) var httpVersion = ""
    private(set) var headers: HTTPHeaders = [:]
    private(set) var byteCount = 0
    private(set) var fieldCount = 0
    private var isAtStart = true
    /// The number of fields for which storage is reserved.
    private static let usualFieldCount = 12

    init(maximumByteCount: Int, maximumFieldCount: Int) {
        self.maximumByteCount = maximumByteCount
        self.maximumFieldCount = maximumFieldCount
    }

    /// Consumes a line including its line break. Returns true if it ends a head.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` naming `maximumResponseHeaderByteCount` or
    ///   `maximumResponseHeaderCount`.
    mutating func consume(_ line: UnsafeRawBufferPointer) throws(WebImageError) -> Bool {
        byteCount += line.count
        guard byteCount <= maximumByteCount else {
            throw .limitExceeded("maximumResponseHeaderByteCount", allowed: maximumByteCount, required: byteCount)
        }
        var end = line.count
        while end > 0, line[end - 1] == 10 || line[end - 1] == 13 { end -= 1 }
        let content = UnsafeRawBufferPointer(rebasing: line[..<end])
        if isAtStart {
            guard content.count > 0 else { return false }
            startHead(content)
            return false
        }
        guard content.count > 0 else {
            isAtStart = true
            return true
        }
        try addField(content)
        return false
    }

    private mutating func startHead(_ line: UnsafeRawBufferPointer) {
        isAtStart = false
        headers = [:]
        headers.reserveCapacity(Self.usualFieldCount)
        statusCode = 0
        httpVersion = ""
        var rest = line[...]
        let protocolName = Self.word(&rest)
        guard protocolName.starts(with: "HTTP/".utf8) else { return }
        httpVersion = Self.version(UnsafeRawBufferPointer(rebasing: protocolName.dropFirst(5)))
        let status = Self.word(&rest)
        guard status.count <= 3 else { return }
        statusCode = status.reduce(0) { code, digit in
            (48...57).contains(digit) ? code * 10 + Int(digit - 48) : 0
        }
    }

    /// Consumes the bytes up to the next space.
    private static func word(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        rest = rest.drop { $0 == UInt8(ascii: " ") }
        let word = rest.prefix { $0 != UInt8(ascii: " ") }
        rest = rest[word.endIndex...]
        return word
    }

    private static func version(_ bytes: UnsafeRawBufferPointer) -> String {
        if bytes.elementsEqual("1.1".utf8) { return "1.1" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func addField(_ line: UnsafeRawBufferPointer) throws(WebImageError) {
        if line[0] == 32 || line[0] == 9 {
            headers.continueLast(with: Self.text(line, from: 0, to: line.count))
            return
        }
        fieldCount += 1
        guard fieldCount <= maximumFieldCount else {
            throw .limitExceeded("maximumResponseHeaderCount", allowed: maximumFieldCount, required: fieldCount)
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = Self.text(line, from: 0, to: colon)
        let isPlace = HTTPHeaders.equal(name, "Location") && line.contains { $0 >= 0x80 }
        let value = isPlace ? Self.encoded(line[(colon + 1)...]) : Self.text(line, from: colon + 1, to: line.count)
        headers.add(name: name, value: value)
    }

    /// Returns a redirect target, in whatever encoding its server uses for paths: bytes outside ASCII are percent-encoded as
    /// received.
    private static func encoded(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let encoded = bytes.flatMap { byte -> [UInt8] in
            byte < 0x80 ? [byte] : Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
        }
        return encoded.withUnsafeBytes { text($0, from: 0, to: $0.count) }
    }

    /// Returns bytes as text without blanks at the ends; invalid UTF-8 becomes the replacement character.
    private static func text(_ line: UnsafeRawBufferPointer, from: Int, to: Int) -> String {
        var (start, end) = (from, to)
        while start < end, line[start] == 32 || line[start] == 9 { start += 1 }
        while end > start, line[end - 1] == 32 || line[end - 1] == 9 { end -= 1 }
        return String(decoding: line[start..<end], as: UTF8.self)
    }
}
