public import FoundationEssentials

/// What an ``ImageCache`` needs of its disk level; ``DiskCache`` is the library's own.
///
/// Methods block on the disk; they are called on threads of the cache, several at once, and on the caller's thread by the
/// cache's synchronous forms. A failed read is a miss, a failed write is given up.
public protocol DiskCaching: AnyObject, Sendable {
    /// Where the entries are.
    var path: String { get }
    /// The file that the entry of `key` is in, whether it exists or not.
    func cachePath(forKey key: String) -> String
    /// The entry of a key, nil when there is none.
    func entry(forKey key: String) -> CachedImageData?
    /// Whether there is an entry of the key.
    func containsData(forKey key: String) -> Bool
    /// Stores an entry; whether it is there now.
    @discardableResult
    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool
    /// Stores an entry with all that belongs to it; whether it is there now. By default its validators are left out.
    @discardableResult
    func store(_ entry: CachedImageData, forKey key: String) -> Bool
    /// Changes what is stored with an entry, in place of what was there: nil leaves a part alone, and `.some(nil)` takes it
    /// away. Has no effect without an entry. By default the entry is read and stored anew.
    func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String)
    /// Removes an entry.
    func removeData(forKey key: String)
    /// Removes all entries.
    func removeAllData()
    /// Removes expired entries, then the oldest until the limits hold, for at most `timeLimit` seconds.
    @discardableResult
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup
    /// Number of entries and bytes that they take.
    func usage() -> (count: Int, size: Int)
    /// Takes over ages and limits; called whenever ``ImageCache/config`` changes.
    func apply(_ config: ImageCacheConfig)
}

extension DiskCaching {
    /// Stores the bytes and the extended data.
    @discardableResult
    public func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        store(entry.data, forKey: key, extendedData: entry.extendedData)
    }

    /// Reads the entry and stores it anew.
    public func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        guard extendedData != nil || validators != nil, var entry = entry(forKey: key) else { return }
        if let extendedData { entry.extendedData = extendedData }
        if let validators { entry.validators = validators }
        store(entry, forKey: key)
    }
}

extension DiskCache: DiskCaching {
    /// The same as setting ``config``.
    public func apply(_ config: ImageCacheConfig) { self.config = config }
}
