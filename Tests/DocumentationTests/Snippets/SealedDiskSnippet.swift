import FoundationEssentials
import WebImage

// snippet: sealed disk
final class SealedDisk: DiskCaching {
    private let disk: DiskCache

    init(path: String, config: ImageCacheConfig) { disk = DiskCache(path: path, config: config) }

    var path: String { disk.path }
    func cachePath(forKey key: String) -> String { disk.cachePath(forKey: key) }

    func entry(forKey key: String) -> CachedImageData? {
        guard var entry = disk.entry(forKey: key), let data = vault.open(entry.data) else { return nil }
        entry.data = data
        return entry
    }

    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
        store(CachedImageData(data: data, extendedData: extendedData), forKey: key)
    }

    func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        var entry = entry
        entry.data = vault.seal(entry.data)
        return disk.store(entry, forKey: key)
    }

    func containsData(forKey key: String) -> Bool { disk.containsData(forKey: key) }
    func removeData(forKey key: String) { disk.removeData(forKey: key) }
    func removeAllData() { disk.removeAllData() }
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup { disk.removeExpiredData(timeLimit: timeLimit) }
    func usage() -> (count: Int, size: Int) { disk.usage() }
    func apply(_ config: ImageCacheConfig) { disk.config = config }
}
// end
