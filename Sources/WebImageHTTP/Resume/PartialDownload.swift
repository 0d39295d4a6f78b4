import FoundationEssentials

/// What is known of the beginning of a body: whose it is and of which version.
package struct PartialHead: Sendable, Hashable, Codable {
    package var key: PartialKey
    var validator: PartialValidator
    /// Bytes of the whole; nil when that is not known.
    var total: Int64?
    var lastModified: String?
    var contentType: String?
}

/// The beginning of a body, left by an attempt that broke off: an earlier one of this download, or of another process.
package struct PartialDownload: Sendable {
    package var head: PartialHead
    /// The bytes.
    var bytes: Data

    /// The first byte that is asked for.
    var start: Int { PartialRules.start(after: bytes.count) }

    /// Makes of a request for the whole one for the rest.
    func apply(to request: inout HTTPTransferRequest) {
        request.headers["Range"] = "bytes=\(start)-"
        request.headers["If-Range"] = head.validator.text
    }
}

extension PartialDownload {
    /// An entry of the cache that keeps it.
    ///
    /// - Returns: nil for an entry of something else.
    package init?(_ entry: CachedImageData, key: PartialKey) {
        guard let head = entry.extendedData.flatMap({ try? JSONDecoder().decode(PartialHead.self, from: $0) }),
            head.key == key, entry.data.count >= PartialRules.leastByteCount,
            head.total.map({ $0 >= Int64(entry.data.count) }) ?? true
        else { return nil }
        self.init(head: head, bytes: entry.data)
    }

    /// The entry of the cache that keeps it.
    package var entry: CachedImageData { CachedImageData(data: bytes, extendedData: try? JSONEncoder().encode(head)) }
}
