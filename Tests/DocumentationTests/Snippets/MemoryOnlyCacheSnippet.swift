import FoundationEssentials
import WebImage

// snippet: memory only
final class MemoryOnlyCache: ImageCaching {
    private final class Done: WebImageOperation {
        let isCancelled = false
        func cancel() {}
    }

    private let memory = MemoryCache()

    func memoryImage(forKey key: String) -> Image? { memory.image(forKey: key) }
    func diskEntry(forKey key: String) -> CachedImageData? { nil }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        completion(nil)
        return Done()
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        if request.cacheType.includesMemory, let image = request.image { memory.setImage(image, forKey: request.key) }
        completion?()
    }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        if cacheType.includesMemory { memory.removeImage(forKey: key) }
        completion?()
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        completion(cacheType.includesMemory && memory.image(forKey: key) != nil ? .memory : .none)
    }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        if cacheType.includesMemory { memory.removeAll() }
        completion?()
    }
}
// end
