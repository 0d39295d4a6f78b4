extension HTTPHeaders {
    /// Whether a field of that name says who asks: `Authorization`, `Cookie`, and what services call their own such fields, for
    /// example `X-Api-Key` or `X-Auth-Token`. It is not for other places, and what is answered to it not for other people.
    static func isCredential(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { name in
            var start = 0
            for end in 0...name.count {
                let isEnd = end == name.count || name[end] == UInt8(ascii: "-") || name[end] == UInt8(ascii: "_")
                guard isEnd else { continue }
                if isCredential(word: UnsafeBufferPointer(rebasing: name[start..<end])) { return true }
                start = end + 1
            }
            return false
        }
    }

    /// Asked of every field of every request: without strings.
    private static func isCredential(word: UnsafeBufferPointer<UInt8>) -> Bool {
        func ends(with ending: String) -> Bool {
            var index = word.count - ending.utf8.count
            guard index >= 0 else { return false }
            for byte in ending.utf8 {
                guard lowercase(word[index]) == byte else { return false }
                index += 1
            }
            return true
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
    package var credentials: [Field] { fields.filter { Self.isCredential($0.name) } }
}
