public import FoundationEssentials

/// The requirements of an ``ImageCache`` for its disk level; ``DiskCache`` is the library's implementation.
///
/// Methods may block on the disk. They are called on threads of the cache, several at once, and on the caller's thread by the
/// cache's synchronous methods. A failed read counts as a miss, a failed write is dropped.
public protocol DiskCaching: AnyObject, Sendable {
    /// The directory of the entries.
    var path: String { get }
    /// Returns the path of the file for the entry of `key`, whether it exists or not.
    func cachePath(forKey key: String) -> String
    /// Returns the entry of a key; nil if there is none.
    func entry(forKey key: String) -> CachedImageData?
    /// Returns a Boolean value that indicates whether there is an entry for the key.
    func containsData(forKey key: String) -> Bool
    /// Stores an entry. Returns whether it is stored now.
    @discardableResult
    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool
    /// Stores an entry with all its metadata. Returns whether it is stored now. By default, its validators are left out.
    @discardableResult
    func store(_ entry: CachedImageData, forKey key: String) -> Bool
    /// Replaces metadata of an existing entry: nil leaves a part unchanged, and `.some(nil)` removes it. Has no effect without an
    /// entry. By default, the entry is read and stored again.
    func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String)
    /// Removes an entry.
    func removeData(forKey key: String)
    /// Removes all entries.
    func removeAllData()
    /// Removes expired entries, then the oldest until the size limit holds, for at most `timeLimit` seconds.
    @discardableResult
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup
    /// Returns the number of entries and their size in bytes.
    func usage() -> (count: Int, size: Int)
    /// Applies ages and limits; called whenever ``ImageCache/config`` changes.
    func apply(_ config: ImageCacheConfig)
}

extension DiskCaching {
    /// Stores the bytes and the extended data.
    @discardableResult
    public func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        store(entry.data, forKey: key, extendedData: entry.extendedData)
    }

    /// Reads the entry and stores it again.
    public func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        guard extendedData != nil || validators != nil, var entry = entry(forKey: key) else { return }
        if let extendedData { entry.extendedData = extendedData }
        if let validators { entry.validators = validators }
        store(entry, forKey: key)
    }
}

extension DiskCache: DiskCaching {
    /// Sets ``config``.
    public func apply(_ config: ImageCacheConfig) { self.config = config }
}
