import FoundationEssentials

/// Identifies a part of a body: the URL, and everything else in a request that the response may depend on. A part that was received
/// with access rights is not used without them.
package struct PartialKey: Sendable, Hashable, Codable {
    package let urlHash: UInt64
    /// A digest of the URL, the fields, the credential and the options. Secrets, which URLs may contain as well, appear here, and
    /// on disk, only as this digest.
    let digest: String
}

extension PartialKey {
    /// Creates the key of a request; nil if its response must not be kept: it is not a plain GET, has a range itself, has
    /// conditions whose meaning a range would change, or forbids storing.
    package init?(_ request: DownloadRequest) {
        let headers = request.headers
        guard request.isPlainGet, Self.excluding.allSatisfy({ headers[$0] == nil }),
            !PartialRules.forbidsStoring(headers)
        else { return nil }
        let url = request.url.absoluteString
        urlHash = Self.hash(of: url)
        var lines = headers.fields.compactMap { field -> String? in
            let name = field.name.lowercased()
            return Self.leftOut.contains(name) ? nil : "\(name):\(field.value)\n"
        }
        lines.sort()
        if let credential = request.credential {
            lines.append("\(credential.user.utf8.count) \(credential.user)\n\(credential.password)\n")
        }
        lines.append("\(request.handlesCookies) \(request.verifiesCertificates) \(lines.count)")
        digest = Hashing.md5Hex(url + "\n" + lines.joined())
    }

    /// The key in the cache. Its path extension, which file names have as well, depends only on the URL.
    package var text: String { "\(digest).\(String(urlHash, radix: 16))" }

    /// Returns the hash of a URL, for a cheap check that no part of it is stored.
    package static func hash(of url: String) -> UInt64 {
        var url = url
        return url.withUTF8 { Hashing.xxh3(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the hash of the URL in the name of a file.
    package static func urlHash(inFileName name: String) -> UInt64? {
        name.split(separator: ".").last.flatMap { UInt64($0, radix: 16) }
    }

    private static let excluding = ["Range", "If-Range", "If-Match", "If-Unmodified-Since"]
    /// Revalidation fields: they do not change the identity of the response.
    private static let leftOut: Set<String> = ["if-none-match", "if-modified-since", "cache-control", "pragma"]
}
