package import FoundationEssentials
import Glibc
package import TestSupport
package import WebImageCache

/// A disk level in memory that counts, records the calling threads, and waits on request.
package final class FakeDisk: DiskCaching {
    package struct Content {
        package var entries: [String: CachedImageData] = [:]
        package var reads: [String] = []
        /// Names of the threads that stores ran on.
        package var storeThreads: [String] = []
        /// The time limits of passes.
        package var passes: [Double?] = []
        package var cleanup = DiskCacheCleanup()
        package var readGate: Gate?
        package var storeGate: Gate?
    }

    package let path: String
    package let content = Monitor(Content())

    package init(path: String = "/nowhere") { self.path = path }

    /// A cache on this level.
    package func cache(
        coder: (any ImageCoder)?,
        clock: ClockSource = .system,
        delays: DelaySource = .system,
        _ change: (inout ImageCacheConfig) -> Void = { _ in }
    ) -> ImageCache {
        var config = ImageCacheConfig()
        change(&config)
        config.makeDiskCache = { _, _ in self }
        return ImageCache(path: path, config: config, coder: coder, clock: clock, delays: delays)
    }

    package var readCount: Int { content.withLock { $0.reads.count } }
    package func holdReads(_ gate: Gate?) { content.withLock { $0.readGate = gate } }
    package func holdStores(_ gate: Gate?) { content.withLock { $0.storeGate = gate } }

    package func apply(_ config: ImageCacheConfig) {}
    package func cachePath(forKey key: String) -> String { path + "/" + key }
    package func containsData(forKey key: String) -> Bool { content.withLock { $0.entries[key] != nil } }
    package func removeData(forKey key: String) { content.withLock { $0.entries[key] = nil } }
    package func removeAllData() { content.withLock { $0.entries = [:] } }
    package func usage() -> (count: Int, size: Int) { content.withLock { ($0.entries.count, 0) } }

    /// The entry at the time of the call, delivered when the gate opens.
    package func entry(forKey key: String) -> CachedImageData? {
        let (entry, gate) = content.withLock { content in
            content.reads.append(key)
            return (content.entries[key], content.readGate)
        }
        gate?.wait()
        return entry
    }

    package func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
        store(CachedImageData(data: data, extendedData: extendedData), forKey: key)
    }

    package func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        let name = threadName()
        content.withLock { $0.storeGate }?.wait()
        content.withLock { content in
            content.storeThreads.append(name)
            content.entries[key] = entry
        }
        return true
    }

    package func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        content.withLock { content in
            if let extendedData { content.entries[key]?.extendedData = extendedData }
            if let validators { content.entries[key]?.validators = validators }
        }
    }

    package func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup {
        content.withLock { content in
            content.passes.append(timeLimit)
            return content.cleanup
        }
    }
}

/// The name of the calling thread.
private func threadName() -> String {
    let file = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count - 1, 0)), as: UTF8.self)
}
