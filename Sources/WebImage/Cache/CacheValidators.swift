/// What a server gave with a picture to ask it later whether there is a newer one, kept with the entry on disk.
public struct CacheValidators: Sendable, Hashable {
    /// The `ETag` field, as it came, quotes and weakness mark included.
    public private(set) var etag: String?
    /// The `Last-Modified` field, as it came.
    public private(set) var lastModified: String?
    /// The XXH3 of the bytes as they were received, when other bytes were stored (see ``CacheSerializer``); nil when what was
    /// received is what is stored.
    var receivedHash: UInt64?

    /// Validators; nil when there are none. A value that is empty, longer than 1 KiB, or that has a CR, LF or NUL in it
    /// counts as none.
    public init?(etag: String?, lastModified: String?) {
        self.etag = etag.flatMap { Self.isUsable($0) ? $0 : nil }
        self.lastModified = lastModified.flatMap { Self.isUsable($0) ? $0 : nil }
        if self.etag == nil, self.lastModified == nil { return nil }
    }

    /// The same, and what was received; nil when there is neither a validator nor a hash: also without validators the bytes of
    /// a later answer can be compared.
    init?(etag: String?, lastModified: String?, receivedHash: UInt64?) {
        self.etag = etag.flatMap { Self.isUsable($0) ? $0 : nil }
        self.lastModified = lastModified.flatMap { Self.isUsable($0) ? $0 : nil }
        self.receivedHash = receivedHash
        if self.etag == nil, self.lastModified == nil, receivedHash == nil { return nil }
    }

    private static func isUsable(_ value: String) -> Bool {
        let bytes = value.utf8
        return !bytes.isEmpty && bytes.count <= 1024 && bytes.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 }
    }
}
