import FoundationEssentials

/// A place on the network: scheme, host and port, as one text such as `https://example.com:8080`.
struct HostKey: Hashable, Sendable {
    private let text: String

    /// Nil when the URL names no host.
    ///
    /// Reads the text itself, as taking URLs apart would cost more than all else that is done with the key.
    init?(_ url: URL) {
        let bytes = url.absoluteString.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[bytes.index(after: colon)...].starts(with: "//".utf8)
        else { return nil }
        let start = bytes.index(colon, offsetBy: 3)
        var authority = bytes[start...].prefix { !Self.endsAuthority($0) }
        if let sign = authority.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[authority.index(after: sign)...]
        }
        let scheme = bytes[..<colon].map(Self.lowercase)
        var host = authority.map(Self.lowercase)
        let port = scheme.elementsEqual("https".utf8) ? ":443" : ":80"
        if host.suffix(port.utf8.count).elementsEqual(port.utf8) { host.removeLast(port.utf8.count) }
        if host.last == UInt8(ascii: ":") { host.removeLast() }
        guard !host.isEmpty else { return nil }
        text = String(decoding: scheme + Array("://".utf8) + host, as: UTF8.self)
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
}
