import FoundationEssentials

/// The identity of a partial body: its request and its version.
package struct PartialHead: Sendable, Hashable, Codable {
    package var key: PartialKey
    var validator: PartialValidator
    /// The number of bytes of the whole body; nil if unknown.
    var total: Int64?
    var lastModified: String?
    var contentType: String?
}

/// The beginning of a body, left by an interrupted attempt of this download or of another process.
package struct PartialDownload: Sendable {
    package var head: PartialHead
    /// The bytes.
    var bytes: Data

    /// The offset of the first byte to request.
    var start: Int { PartialRules.start(after: bytes.count) }

    /// Turns a request for the whole body into a range request.
    func apply(to request: inout HTTPTransferRequest) {
        request.headers["Range"] = "bytes=\(start)-"
        request.headers["If-Range"] = head.validator.text
    }
}

extension PartialDownload {
    /// Creates a part from its cache entry.
    ///
    /// - Returns: nil for an entry that is not a part for `key`.
    package init?(_ entry: CachedImageData, key: PartialKey) {
        guard let head = entry.extendedData.flatMap({ try? JSONDecoder().decode(PartialHead.self, from: $0) }),
            head.key == key, entry.data.count >= PartialRules.leastByteCount,
            head.total.map({ $0 >= Int64(entry.data.count) }) ?? true
        else { return nil }
        self.init(head: head, bytes: entry.data)
    }

    /// The cache entry that stores the part.
    package var entry: CachedImageData { CachedImageData(data: bytes, extendedData: try? JSONEncoder().encode(head)) }
}
