extension HTTPHeaders {
    /// Whether a field of that name says who asks: `Authorization`, `Cookie`, and what services call their own such fields, for
    /// example `X-Api-Key` or `X-Auth-Token`. It is not for other places, and what is answered to it not for other people.
    static func isCredential(_ name: String) -> Bool {
        name.utf8.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }.contains { part in
            let word = String(decoding: part, as: UTF8.self).lowercased()
            return credentialWords.contains(word) || credentialEndings.contains { word.hasSuffix($0) }
        }
    }

    private static let credentialWords: Set<String> = [
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
