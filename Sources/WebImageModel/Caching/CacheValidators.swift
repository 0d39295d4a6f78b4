/// The validators that a server sent with an image, used to revalidate it later; stored with the entry on disk.
public struct CacheValidators: Sendable, Hashable {
    /// The `ETag` field as received, including quotes and the weakness mark.
    public private(set) var etag: String?
    /// The `Last-Modified` field as received.
    public private(set) var lastModified: String?
    /// The HTTP cache's record of the response, which shows whether the image is still fresh; nil if none was kept.
    package var record: HTTPCacheRecord? { sharedRecord?.value }
    private var sharedRecord: Shared<HTTPCacheRecord>?
    /// The XXH3 of the bytes as received, if other bytes were stored (see ``CacheSerializer``); nil if they were stored as
    /// received.
    package var receivedHash: UInt64?
    /// The XXH3 of the received bytes that an amendment applies to: an entry with other bytes is left unchanged. Nil applies to any
    /// entry. Not stored.
    package var subject = IgnoredInEquality<UInt64?>(value: nil)

    /// Creates validators; nil if there are none. A value that is empty, longer than 1 KiB, or contains CR, LF or NUL counts as
    /// none.
    public init?(etag: String?, lastModified: String?) {
        self.init(etag: etag, lastModified: lastModified, receivedHash: nil)
    }

    /// Creates validators with a record of the response, which supplies the validators that are nil, and a hash of the received
    /// bytes, which a later response can be compared with. Nil if there is nothing to keep.
    package init?(
        etag: String? = nil,
        lastModified: String? = nil,
        record: HTTPCacheRecord? = nil,
        receivedHash: UInt64? = nil
    ) {
        self.etag = Self.usable(etag) ?? Self.usable(record?.headers.firstValue(of: "ETag"))
        self.lastModified = Self.usable(lastModified) ?? Self.usable(record?.headers.firstValue(of: "Last-Modified"))
        self.receivedHash = receivedHash
        sharedRecord = record.map { Shared($0) }
        if self.etag == nil, self.lastModified == nil, receivedHash == nil, record == nil { return nil }
    }

    /// Indicates whether a revalidation can change the validators while the image stays the same: the server can be asked with
    /// them, or they say when it must be asked.
    var mayChange: Bool { etag != nil || lastModified != nil || sharedRecord != nil }

    /// The conditional request fields, with the validators as received; empty if there are none.
    package var conditions: HTTPHeaders {
        var conditions = HTTPHeaders()
        if let etag { conditions.add(name: "If-None-Match", value: etag) }
        if let lastModified { conditions.add(name: "If-Modified-Since", value: lastModified) }
        return conditions
    }

    private static func usable(_ value: String?) -> String? {
        guard let value else { return nil }
        let bytes = value.utf8
        guard !bytes.isEmpty, bytes.count <= 1024 else { return nil }
        return bytes.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 } ? value : nil
    }
}

extension CacheValidators? {
    /// Returns the same validators with the hash of the received bytes, even if there was nothing else.
    package func with(receivedHash: UInt64) -> CacheValidators? {
        guard var validators = self else { return CacheValidators(record: nil, receivedHash: receivedHash) }
        validators.receivedHash = receivedHash
        return validators
    }
}
