import BenchSupport
import FoundationEssentials
import WebImage

/// What a cache directory costs that has many entries of 4 KiB and a size limit that it has reached.
struct ManyEntries {
    let path: String
    let count: Int
    private let data = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 4) })
    /// Disk space of an entry: its bytes and what follows them.
    private let allocated = 8192

    init(path: String, count: Int) {
        self.path = path
        self.count = count
    }

    func measure(stores: Int, lookups: Int) {
        fill()
        measureLookups(lookups)
        // A process that has just started: it does not know the directory yet.
        // As many stores as it takes until the walk through the directory is repeated, if that is more, so that all of the
        // walk and an eviction for each store are in the mean.
        measureStores(max(stores, count / 8))
        measureTrim()
    }

    private func key(_ number: Int) -> String {
        "https://pictures.example.com/albums/2024/05/photo-\(number)-640x480.jpg"
    }

    /// Without a limit, so that nothing is looked for or evicted meanwhile.
    private func fill() {
        let cache = DiskCache(path: path)
        for number in 0..<count {
            guard cache.store(data, forKey: key(number)) else {
                Measurement.stop("storing failed: \(cache.lastError as Any)")
            }
        }
    }

    private func measureLookups(_ lookups: Int) {
        let cache = DiskCache(path: path)
        // The same each time; spread over all entries.
        let keys = (0..<lookups).map { key(($0 &* 7_368_787 + 12_345) % count) }
        for key in keys where cache.data(forKey: key) == nil { Measurement.stop("\(key) is not there") }
        let start = Measurement.now()
        for key in keys where cache.data(forKey: key) == nil { Measurement.stop("\(key) is not there") }
        Measurement.report("lookup", (Measurement.now() - start) * 1e6 / Double(lookups), "us")
    }

    private func measureStores(_ stores: Int) {
        var config = ImageCacheConfig()
        config.maxDiskSize = count * allocated
        let cache = DiskCache(path: path, config: config)
        var longest = 0.0
        let start = Measurement.now()
        var last = start
        for number in 0..<stores {
            guard cache.store(data, forKey: key(count + number)) else {
                Measurement.stop("storing failed: \(cache.lastError as Any)")
            }
            let now = Measurement.now()
            longest = max(longest, now - last)
            last = now
        }
        Measurement.report("store", (last - start) * 1e6 / Double(stores), "us")
        Measurement.report("longest-store", longest * 1e6, "us")
        Measurement.report("evicted", Double(cache.statistics.evictedCount), "")
    }

    private func measureTrim() {
        var config = ImageCacheConfig()
        config.maxDiskSize = count * allocated / 10 * 9
        let cache = DiskCache(path: path, config: config)
        let start = Measurement.now()
        let cleanup = cache.removeExpiredData()
        let time = Measurement.now() - start
        guard cleanup.trimmedCount > 0, cleanup.isComplete else { Measurement.stop("nothing was trimmed") }
        Measurement.report("trim", time * 1e6 / Double(cleanup.trimmedCount), "us")
        Measurement.report("trimmed", Double(cleanup.trimmedCount), "")
    }
}
