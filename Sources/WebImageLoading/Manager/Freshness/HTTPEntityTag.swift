/// The value of an `ETag` field (RFC 9110, 8.8.3).
struct HTTPEntityTag: Sendable, Hashable {
    /// Whether it stands for contents that mean the same, rather than for the same bytes.
    let isWeak: Bool
    /// What follows the mark of weakness. Quotes belong to it; servers that leave them away are understood.
    let opaque: String

    /// A tag as it came; nil when nothing is there.
    init?(_ text: String) {
        var bytes = text.utf8[...]
        while let first = bytes.first, first <= 32 { bytes.removeFirst() }
        while let last = bytes.last, last <= 32 { bytes.removeLast() }
        let mark = bytes.prefix(2)
        // The letter is upper case; a small one is taken for the same, which promises less.
        isWeak = mark.first.map { $0 | 0x20 } == UInt8(ascii: "w") && mark.last == UInt8(ascii: "/")
        opaque = String(decoding: isWeak ? bytes.dropFirst(2) : bytes, as: UTF8.self)
        if opaque.isEmpty { return nil }
    }
}
