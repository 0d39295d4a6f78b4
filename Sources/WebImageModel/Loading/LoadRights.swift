/// With whose rights something is loaded, as a digest: a cache keeps what is answered to one user from others.
package struct LoadRights: Sendable, Hashable {
    /// Nobody's.
    package static let none = LoadRights(digest: nil, isKnown: true)

    /// Stands for the fields that say who asks, and for the credential; nil without any. Secrets are in keys, and on disk, only as this.
    package let digest: String?
    /// Whether it is all that is sent, but for what a request modifier adds.
    package let isKnown: Bool

    package init(digest: String?, isKnown: Bool) { (self.digest, self.isKnown) = (digest, isKnown) }

    /// What key it makes of a URL's.
    package func key(_ key: String) -> String { digest.map { key + Self.mark + $0 } ?? key }

    /// A space is in no URL; and what follows a "#" changes neither a key's extension nor its scale.
    static let mark = "# rights="

    /// How many downloaders and loaders may have rights of their own: as long as there are none, none is asked for them.
    private static let owners = Counter()
    package static var mayBeOwned: Bool { owners.value > 0 }
    package static func noteOwner() { owners.add() }

    /// The digest of the fields that say who asks, in any order, and of a credential; nil without any.
    package static func digest(of headers: HTTPHeaders, _ credential: WebImageCredential?) -> String? {
        var lines = headers.credentials.map { "\($0.name.lowercased()):\($0.value)\n" }
        if let credential {
            lines.append("\(credential.user.utf8.count) \(credential.user)\n\(credential.password)\n")
        }
        return lines.isEmpty ? nil : Hashing.md5Hex(lines.sorted().joined())
    }
}
