import FoundationEssentials
import WebImage

@testable import WebImageCache

/// The library's memory level, with a model that sees what is put into it.
final class ModelMemory: MemoryCaching {
    private let cache: MemoryCache
    private let model: ReferenceModel
    private let mutant: ModelMutant?

    init(_ model: ReferenceModel, mutant: ModelMutant?) {
        self.model = model
        self.mutant = mutant
        // A thread may be moved between processors at any time.
        cache = MemoryCache(EvictionLimits(), usesWeakCache: false, pressureMonitor: nil, stripeCount: 1)
    }

    var totalCost: Int { cache.totalCost }
    var count: Int { cache.count }

    func image(forKey key: String) -> Image? { cache.image(forKey: key) }

    func setImage(_ image: Image?, forKey key: String, cost: Int?) {
        if let image { model.noteStore(ModelImage(image), key, toMemory: true) }
        cache.setImage(image, forKey: key, cost: cost)
        guard mutant == .previewUnderFullKey, let image, let place = ModelKeys.place(of: key) else { return }
        cache.setImage(image, forKey: ModelKeys.key(place.url, .original), cost: cost)
    }

    func removeImage(forKey key: String) { cache.removeImage(forKey: key) }
    func removeImage(_ image: Image, forKey key: String) { cache.removeImage(image, forKey: key) }
    func removeAll() { cache.removeAll() }
    func didReceiveMemoryWarning() { cache.didReceiveMemoryWarning() }

    func apply(_ config: ImageCacheConfig) {
        var config = config
        if mutant == .memoryWithoutLimit { (config.maxMemoryCost, config.maxMemoryCount) = (0, 0) }
        cache.apply(config)
    }
}

/// A disk level in memory: entries of a limited size, the oldest are removed first.
final class ModelDisk: DiskCaching, @unchecked Sendable {
    // Sendable because only the thread that steps the world uses it.

    private struct Entry {
        var content: CachedImageData
        var use: Int
        var time: Double
    }

    let path = "/model"
    private var entries: [String: Entry] = [:]
    private var uses = 0
    private(set) var limit = 0
    private var maxAge = 0.0
    private let model: ReferenceModel
    private let stepper: Stepper
    private let clock: ClockSource
    private let mutant: ModelMutant?
    private var count = 0

    init(_ model: ReferenceModel, _ stepper: Stepper, clock: ClockSource, mutant: ModelMutant?) {
        self.model = model
        self.stepper = stepper
        self.clock = clock
        self.mutant = mutant
    }

    var keys: [String] { entries.keys.sorted() }
    func content(forKey key: String) -> CachedImageData? { entries[key]?.content }
    func cachePath(forKey key: String) -> String { path + "/" + key }
    func containsData(forKey key: String) -> Bool { entries[key] != nil }
    func usage() -> (count: Int, size: Int) { (entries.count, size) }
    private var size: Int { entries.values.reduce(0) { $0 + $1.content.data.count } }

    func entry(forKey key: String) -> CachedImageData? {
        stepper.pause()
        defer { stepper.pause() }
        uses += 1
        entries[key]?.use = uses
        return entries[key]?.content
    }

    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
        store(CachedImageData(data: data, extendedData: extendedData), forKey: key)
    }

    func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        if let picture = ModelImage(entry.data) { model.noteStore(picture, key, toMemory: false) }
        stepper.pause()
        defer { stepper.pause() }
        if mutant == .lostStore { return true }
        guard limit == 0 || entry.data.count <= limit else { return false }
        count += 1
        uses += 1
        let content = mutant == .staleStore ? entries[key]?.content ?? entry : entry
        entries[key] = Entry(content: content, use: uses, time: clock.wallTime())
        evict()
        return true
    }

    func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        stepper.pause()
        if let extendedData { entries[key]?.content.extendedData = extendedData }
        if let validators { entries[key]?.content.validators = validators }
    }

    func removeData(forKey key: String) {
        stepper.pause()
        if mutant != .lostRemoval { entries[key] = nil }
        stepper.pause()
    }

    func removeAllData() {
        stepper.pause()
        let kept = mutant == .storeAfterClear ? keys.first : nil
        entries = entries.filter { $0.key == kept }
        stepper.pause()
    }

    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup {
        stepper.pause()
        let now = clock.wallTime()
        entries = entries.filter { now - $0.value.time <= maxAge }
        evict()
        return DiskCacheCleanup()
    }

    func apply(_ config: ImageCacheConfig) {
        (limit, maxAge) = (config.maxDiskSize, config.maxDiskAge)
        evict()
    }

    private func evict() {
        while limit > 0, size > limit, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
            entries[oldest.key] = nil
        }
    }
}
