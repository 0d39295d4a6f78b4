import Dispatch
import WebImage

// snippet: shared folder
/// The cache of this machine, then a folder that all machines mount.
final class SharedFolderCache: ImageCaching {
    private let local: ImageCache
    private let folder: String
    private let queue = DispatchQueue(label: "shared folder", attributes: .concurrent)

    init(local: ImageCache, folder: String) { (self.local, self.folder) = (local, folder) }

    /// Each scope has its own entries.
    private func disk(_ scope: String) -> DiskCache { DiskCache(path: folder + "/" + scope) }

    func queryDisk(_ query: ImageCacheQuery, completion: @escaping @Sendable (CachedImageData?) -> Void)
        -> any WebImageOperation
    {
        local.queryDisk(forKey: query.key, priority: query.priority) { [self] entry in
            guard entry == nil, let scope = query.sharingScope else { return completion(entry) }
            queue.async { [self] in completion(disk(scope).entry(forKey: query.key)) }
        }
    }

    func queryValidators(_ query: ImageCacheQuery, completion: @escaping @Sendable (CachedValidators?) -> Void)
        -> any WebImageOperation
    {
        queryDisk(query) { completion($0.map { CachedValidators(validators: $0.validators) }) }
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        local.store(request, completion: completion)
        guard request.cacheType.includesDisk, let scope = request.sharingScope, let data = request.data else { return }
        let entry = CachedImageData(data: data, validators: request.validators)
        queue.async { [self, key = request.key] in _ = disk(scope).store(entry, forKey: key) }
    }

    // Everything else concerns this machine only.
    func memoryImage(forKey key: String) -> Image? { local.memoryImage(forKey: key) }
    func diskEntry(forKey key: String) -> CachedImageData? { local.diskEntry(forKey: key) }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        local.queryDisk(forKey: key, priority: priority, completion: completion)
    }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        local.removeImage(forKey: key, from: cacheType, completion: completion)
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        local.containsImage(forKey: key, in: cacheType, completion: completion)
    }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        local.clear(cacheType, completion: completion)
    }
}
// end
