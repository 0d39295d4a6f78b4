import FoundationEssentials

/// An image from memory: as it lies there, and as the load means it.
struct MemoryHit {
    /// The very object in the cache.
    let cached: Image
    /// The same at the load's scale.
    let image: Image
}

/// What a look into memory came to.
enum MemoryLookup {
    case found(MemoryHit)
    case missed(WebImageLoadEvent.MissReason)

    var hit: MemoryHit? {
        if case .found(let hit) = self { return hit }
        return nil
    }
}

/// Gets the encoded bytes of an image from memory, for ``WebImageOptions/queryMemoryData``.
///
/// Image and bytes are looked up one after the other, and something may be stored in between. So memory is looked at again
/// when the bytes are there: they are delivered only with the image that was there before and after.
struct MemoryDataQuery: Sendable {
    let manager: WebImageManager
    let operation: WebImageLoadOperation
    let url: URL
    let key: String
    let originalKey: String
    let options: WebImageOptions
    let context: WebImageContext?

    /// How often a new image is taken in place of the one before.
    private static let attemptLimit = 2

    init(_ image: CachedImage) {
        manager = image.manager
        operation = image.operation
        url = image.url
        key = image.resultKey
        originalKey = image.originalKey
        options = image.options
        context = image.context
    }

    func start(with hit: MemoryHit) {
        // A byte limit made the image other than its bytes, and a load that may only look into memory reads no disk.
        guard hit.image.metadata.scaleDownLimitBytes == 0, context?.queryCacheType?.includesDisk ?? true else {
            return end(hit.image, nil)
        }
        if options.contains(.queryMemoryDataSync) {
            readHere(for: hit)
        } else {
            read(for: hit.cached, showing: hit.image, attempt: 1)
        }
    }

    private var cache: any ImageCaching { context?.imageCache ?? manager.imageCache }

    private func readHere(for hit: MemoryHit) {
        var hit = hit
        for _ in 0..<Self.attemptLimit {
            let data = data(of: cache.diskEntry(forKey: key), for: hit.cached)
            guard let now = hitNow else { return end(hit.image, nil) }
            if now.cached === hit.cached { return end(hit.image, data) }
            hit = now
        }
        end(hit.image, nil)
    }

    private func read(for cached: Image, showing image: Image, attempt: Int) {
        operation.subscribe(
            to: DiskReadWork(cache: cache, cacheKey: key),
            priority: options.loadPriority,
            progress: nil
        ) { result in
            var data: Data?
            if case .success(.diskEntry(let entry)) = result { data = self.data(of: entry, for: cached) }
            guard let now = hitNow else { return end(image, nil) }
            if now.cached === cached { return end(image, data) }
            guard attempt < Self.attemptLimit else { return end(now.image, nil) }
            read(for: now.cached, showing: now.image, attempt: attempt + 1)
        }
    }

    /// The bytes of an entry, unless they are known to be another picture's: what made the one new may have left the other,
    /// as the load of a thumbnail does with the whole picture in memory.
    private func data(of entry: CachedImageData?, for image: Image) -> Data? {
        entry.flatMap { $0.mayBelong(to: image, isOriginal: key == originalKey) ? $0.data : nil }
    }

    /// What lies in memory now.
    private var hitNow: MemoryHit? {
        manager.memoryHit(forKey: key, of: originalKey, options: options, context: context)
    }

    private func end(_ image: Image, _ data: Data?) {
        operation.end(.success(.fromMemory(image, data: data, url: url, key: key)))
    }
}
