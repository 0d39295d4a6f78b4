/// The credentials of a load, as a digest: a cache must not give one user's response to others.
package struct LoadRights: Sendable, Hashable {
    /// No credentials.
    package static let none = LoadRights(digest: nil, isKnown: true)

    /// The digest of the credential fields and of the credential; nil without any. Secrets appear in keys, and on disk, only as
    /// this digest.
    package let digest: String?
    /// Indicates whether the digest covers everything that is sent, except what a request modifier adds.
    package let isKnown: Bool

    package init(digest: String?, isKnown: Bool) { (self.digest, self.isKnown) = (digest, isKnown) }

    /// Returns the cache key of a URL's key for these credentials.
    package func key(_ key: String) -> String { digest.map { key + Self.mark + $0 } ?? key }

    /// The separator in keys. URLs contain no space, and text after a "#" changes neither a key's extension nor its scale.
    static let mark = "# rights="

    /// The number of downloaders and loaders that may have credentials. While it is 0, credentials are not looked up.
    private static let owners = Counter()
    package static var mayBeOwned: Bool { owners.value > 0 }
    package static func noteOwner() { owners.add() }

    /// Returns the digest of the credential fields, in any order, and of a credential; nil without any.
    package static func digest(of headers: HTTPHeaders, _ credential: WebImageCredential?) -> String? {
        var lines = headers.credentials.map { "\($0.name.lowercased()):\($0.value)\n" }
        if let credential {
            lines.append("\(credential.user.utf8.count) \(credential.user)\n\(credential.password)\n")
        }
        return lines.isEmpty ? nil : Hashing.md5Hex(lines.sorted().joined())
    }
}
