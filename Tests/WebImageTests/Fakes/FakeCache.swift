import FoundationEssentials
import WebImage

/// A cache of two dictionaries that counts what is done to it.
final class FakeCache: ImageCaching {
    struct Content {
        var memory: [String: Image] = [:]
        var disk: [String: CachedImageData] = [:]
        var diskReads: [String] = []
        var stores: [(key: String, type: ImageCacheType, hasImage: Bool, hasData: Bool)] = []
        var requests: [ImageStoreRequest] = []
        var heldCompletions: [@Sendable () -> Void] = []
        var holdsCompletions = false
    }

    private final class Query: WebImageOperation {
        func cancel() {}
        var isCancelled: Bool { false }
    }

    private let content = Lock(Content())

    func edit<Result>(_ body: (inout Content) -> Result) -> Result { content.withLock(body) }

    var diskKeys: Set<String> { edit { Set($0.disk.keys) } }
    var memoryKeys: Set<String> { edit { Set($0.memory.keys) } }

    func releaseCompletions() {
        let held = edit { content in
            defer { content.heldCompletions = [] }
            return content.heldCompletions
        }
        for completion in held { completion() }
    }

    func memoryImage(forKey key: String) -> Image? { edit { $0.memory[key] } }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        completion(diskEntry(forKey: key))
        return Query()
    }

    func diskEntry(forKey key: String) -> CachedImageData? {
        edit { content in
            content.diskReads.append(key)
            return content.disk[key]
        }
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        let (key, cacheType) = (request.key, request.cacheType)
        let isHeld = edit { content -> Bool in
            content.stores.append((key, cacheType, request.image != nil, request.data != nil))
            content.requests.append(request)
            if cacheType.includesMemory, let image = request.image { content.memory[key] = image }
            if cacheType.includesDisk {
                content.disk[key] = CachedImageData(
                    data: request.data ?? Data("encoded".utf8),
                    extendedData: request.extendedData ?? request.image?.extendedData,
                    validators: request.validators
                )
            }
            if content.holdsCompletions, let completion { content.heldCompletions.append(completion) }
            return content.holdsCompletions
        }
        if !isHeld { completion?() }
    }

    func amend(validators: CacheValidators?, forKey key: String) {
        edit { $0.disk[key]?.validators = validators }
    }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        edit { content in
            if cacheType.includesMemory { content.memory[key] = nil }
            if cacheType.includesDisk { content.disk[key] = nil }
        }
        completion?()
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        let found = edit { content -> ImageCacheType in
            if cacheType.includesMemory, content.memory[key] != nil { return .memory }
            return cacheType.includesDisk && content.disk[key] != nil ? .disk : .none
        }
        completion(found)
    }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        edit { content in
            if cacheType.includesMemory { content.memory = [:] }
            if cacheType.includesDisk { content.disk = [:] }
        }
        completion?()
    }
}
