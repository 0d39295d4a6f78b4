extension HTTPHeaders {
    /// Whether a field of that name says who asks: `Authorization`, `Cookie`, and what services call their own such fields, for
    /// example `X-Api-Key` or `X-Auth-Token`. It is not for other places, and what is answered to it not for other people.
    static func isCredential(_ name: String) -> Bool {
        var rest = name.utf8[...]
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
            if isCredential(word: part) { return true }
            rest = rest[part.endIndex...].dropFirst()
        }
        return false
    }

    /// Asked of every field of every request: without strings.
    private static func isCredential(word: Substring.UTF8View) -> Bool {
        func ends(with ending: String) -> Bool {
            word.count >= ending.utf8.count
                && word.suffix(ending.utf8.count).elementsEqual(ending.utf8) { lowercase($0) == $1 }
        }
        return credentialWords.contains { word.count == $0.utf8.count && ends(with: $0) }
            || credentialEndings.contains(where: ends)
    }

    private static let credentialWords = [
        "authorization", "authentication", "cookie", "cookie2", "session", "sessionid", "sid", "jwt", "credentials",
        "passwd",
        "csrf", "xsrf",
    ]

    private static let credentialEndings = ["auth", "token", "key", "secret", "password", "signature", "credential"]

    /// The fields that say who asks.
    var credentials: [Field] { fields.filter { Self.isCredential($0.name) } }

    /// Whether some of them go along with libcurl's redirects to other places: it leaves out the two that it knows.
    var hasUnknownCredentials: Bool {
        fields.contains {
            Self.isCredential($0.name) && !Self.equal($0.name, "Authorization") && !Self.equal($0.name, "Cookie")
        }
    }
}
