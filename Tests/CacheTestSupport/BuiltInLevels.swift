package import FoundationEssentials
package import WebImageCache

/// The built-in levels of a cache, which have more than the protocols require.
extension DiskCaching {
    private var builtIn: DiskCache { self as! DiskCache }
    package var config: ImageCacheConfig { builtIn.config }
    package func data(forKey key: String) -> Data? { builtIn.data(forKey: key) }
    package func entries() -> [DiskCacheEntry] { builtIn.entries() }
    package func verify() -> [DamagedDiskCacheEntry] { builtIn.verify() }
}

extension MemoryCaching {
    private var builtIn: MemoryCache { self as! MemoryCache }
    package var count: Int { builtIn.count }
    package var maxMemoryCost: Int { builtIn.maxMemoryCost }
    package var maxMemoryCount: Int { builtIn.maxMemoryCount }
    package var usesWeakCache: Bool { builtIn.usesWeakCache }
}
