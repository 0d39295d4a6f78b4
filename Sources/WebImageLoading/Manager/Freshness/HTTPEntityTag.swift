/// The value of an `ETag` field (RFC 9110, 8.8.3).
struct HTTPEntityTag: Sendable, Hashable {
    /// True if it identifies equivalent contents, rather than identical bytes.
    let isWeak: Bool
    /// The opaque tag after the weak prefix, including its quotes. Tags without quotes are accepted.
    let opaque: String

    /// Parses a tag; nil if it is empty.
    init?(_ text: String) {
        var bytes = text.utf8[...]
        while let first = bytes.first, first <= 32 { bytes.removeFirst() }
        while let last = bytes.last, last <= 32 { bytes.removeLast() }
        let mark = bytes.prefix(2)
        // The letter is upper case; a lower-case one is also accepted, as weak promises less.
        isWeak = mark.first.map { $0 | 0x20 } == UInt8(ascii: "w") && mark.last == UInt8(ascii: "/")
        opaque = String(decoding: isWeak ? bytes.dropFirst(2) : bytes, as: UTF8.self)
        if opaque.isEmpty { return nil }
    }
}
