/// The host and port of a URL, parsed from its text.
struct SourceTarget: Hashable, Sendable {
    let host: SourceHost
    let port: Int

    /// Parses an http or https URL.
    ///
    /// Strict where URL parsers differ: a URL that one of them could read as another host is refused.
    ///
    /// - Throws: ``SourceRefusal/scheme(_:)``, ``SourceRefusal/user``, ``SourceRefusal/malformed``,
    ///   ``SourceRefusal/number(_:)``, ``SourceRefusal/zone``.
    init(_ text: String) throws(SourceRefusal) {
        let scheme = Self.scheme(of: text)
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
        guard let authority = DownloaderCore.authority(of: text), text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
            throw .malformed
        }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .user }
        // Some URL parsers treat a backslash as a slash.
        guard !authority.contains(UInt8(ascii: "\\")), let whole = String(authority) else { throw .malformed }
        let (host, port) = try Self.parts(whole)
        self.port = try Self.port(port) ?? (scheme == "https" ? 443 : 80)
        self.host = try SourceHost(host)
    }

    /// Returns the text before the first colon, in lower case; empty if there is no colon.
    static func scheme(of text: String) -> String {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "" }
        return text[..<colon].lowercased()
    }

    /// Splits an authority into host and port; the port is nil if there is none.
    static func parts(_ authority: String) throws(SourceRefusal) -> (host: Substring, port: Substring?) {
        var end = authority.utf8.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        if authority.utf8.first == UInt8(ascii: "[") {
            guard let bracket = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else { throw .malformed }
            end = authority.utf8.index(after: bracket)
        }
        guard end < authority.endIndex else { return (authority[...], nil) }
        guard authority.utf8[end] == UInt8(ascii: ":") else { throw .malformed }
        return (authority[..<end], authority[authority.utf8.index(after: end)...])
    }

    /// Parses a port from 1 to 65535; nil for none or an empty one, which means the scheme's default.
    static func port(_ text: Substring?) throws(SourceRefusal) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= 5, text.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(text),
            (1...65_535).contains(port)
        else { throw .malformed }
        return port
    }
}
