/// What a server gave with a picture to ask it later whether there is a newer one, kept with the entry on disk.
public struct CacheValidators: Sendable, Hashable {
    /// The `ETag` field, as it came, quotes and weakness mark included.
    public private(set) var etag: String?
    /// The `Last-Modified` field, as it came.
    public private(set) var lastModified: String?
    /// What an HTTP cache knows of the response, by which it can tell whether the picture is still fresh; nil when it was not
    /// kept.
    public var record: HTTPCacheRecord? { sharedRecord?.value }
    private var sharedRecord: Shared<HTTPCacheRecord>?
    /// The XXH3 of the bytes as they were received, when other bytes were stored (see ``CacheSerializer``); nil when what was
    /// received is what is stored.
    package var receivedHash: UInt64?
    /// The XXH3 of the received bytes that an amendment is about: an entry of others stays as it is. Nil for whatever lies there.
    /// Not stored.
    package var subject = Uncompared<UInt64?>(value: nil)

    /// Validators; nil when there are none. A value that is empty, longer than 1 KiB, or that has a CR, LF or NUL in it
    /// counts as none.
    public init?(etag: String?, lastModified: String?) {
        self.init(etag: etag, lastModified: lastModified, receivedHash: nil)
    }

    /// The same with what is known of the response, which gives the validators that are nil, and of what was received: the bytes of a
    /// later answer can be compared. Nil when there is nothing of it.
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

    /// Whether a server can be asked with it for a newer picture, or it tells when that has to be done: then it will change
    /// while the picture stays.
    var mayChange: Bool { etag != nil || lastModified != nil || sharedRecord != nil }

    /// The fields that ask a server whether what is stored still serves, as they came; none without a validator.
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
    /// The same with the hash of what was received, also where there was nothing else.
    package func with(receivedHash: UInt64) -> CacheValidators? {
        guard var validators = self else { return CacheValidators(record: nil, receivedHash: receivedHash) }
        validators.receivedHash = receivedHash
        return validators
    }
}
