extension HTTPHeaders {
    /// Returns whether a field of that name carries credentials: `Authorization`, `Cookie`, and custom fields of services, for
    /// example `X-Api-Key` or `X-Auth-Token`. They must not be sent to other origins, and responses to them must not be given to
    /// other users.
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

    /// Avoids strings, because it is called for every field of every request.
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

    /// The fields that carry credentials.
    package var credentials: [Field] { fields.filter { Self.isCredential($0.name) } }
}
