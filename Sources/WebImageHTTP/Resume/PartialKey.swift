import FoundationEssentials

/// What a part of a body belongs to: the URL, and everything else of a request that the answer may depend on. What was received
/// with somebody's rights is not for others.
package struct PartialKey: Sendable, Hashable, Codable {
    package let urlHash: UInt64
    /// Stands for the URL, the fields, the credential and the options. Secrets, which URLs can have as well, are in here, and on
    /// disk, only as this digest.
    let digest: String
}

extension PartialKey {
    /// The key of a request; nil when nothing is to be kept of its answer: it is no plain GET, asks for a part itself, has
    /// conditions that a request for the rest would change the meaning of, or forbids to store.
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

    /// Its key in the cache. The path extension, which file names have as well, is of the URL alone.
    package var text: String { "\(digest).\(String(urlHash, radix: 16))" }

    /// What tells, at little cost, that there is nothing of a URL.
    package static func hash(of url: String) -> UInt64 {
        var url = url
        return url.withUTF8 { Hashing.xxh3(UnsafeRawBufferPointer($0)) }
    }

    /// The hash of the URL in the name of a file.
    package static func urlHash(inFileName name: String) -> UInt64? {
        name.split(separator: ".").last.flatMap { UInt64($0, radix: 16) }
    }

    private static let excluding = ["Range", "If-Range", "If-Match", "If-Unmodified-Since"]
    /// Fields that ask whether there is something newer, and say nothing of what it is.
    private static let leftOut: Set<String> = ["if-none-match", "if-modified-since", "cache-control", "pragma"]
}
