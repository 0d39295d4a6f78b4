import FoundationEssentials
import WebImage

/// The levels of a cache that was made without levels of the test's own have more than the protocols ask for.
extension DiskCaching {
    private var builtIn: DiskCache { self as! DiskCache }
    var config: ImageCacheConfig { builtIn.config }
    func data(forKey key: String) -> Data? { builtIn.data(forKey: key) }
    func entries() -> [DiskCacheEntry] { builtIn.entries() }
    func verify() -> [DamagedDiskCacheEntry] { builtIn.verify() }
}

extension MemoryCaching {
    private var builtIn: MemoryCache { self as! MemoryCache }
    var count: Int { builtIn.count }
    var maxMemoryCost: Int { builtIn.maxMemoryCost }
    var maxMemoryCount: Int { builtIn.maxMemoryCount }
    var usesWeakCache: Bool { builtIn.usesWeakCache }
}
