package import FoundationEssentials
package import WebImageModel

/// A cache of two dictionaries, one of them in place of the disk, that counts its calls.
package final class FakeCache: ImageCaching {
    package struct Content {
        package var memory: [String: Image] = [:]
        package var disk: [String: CachedImageData] = [:]
        package var diskReads: [String] = []
        package var stores: [(key: String, type: ImageCacheType, hasImage: Bool, hasData: Bool)] = []
        package var requests: [ImageStoreRequest] = []
        package var heldCompletions: [@Sendable () -> Void] = []
        package var holdsCompletions = false
    }

    private final class Query: WebImageOperation {
        func cancel() {}
        var isCancelled: Bool { false }
    }

    private let content = Lock(Content())

    /// The bytes on disk of images that are stored without data; nil to store those only in memory.
    private let substitute: Data?

    package init(substitute: Data? = Data("encoded".utf8)) { self.substitute = substitute }

    package func edit<Result>(_ body: (inout Content) -> Result) -> Result { content.withLock(body) }

    package var diskKeys: Set<String> { edit { Set($0.disk.keys) } }
    package var memoryKeys: Set<String> { edit { Set($0.memory.keys) } }

    package func releaseCompletions() {
        let held = edit { content in
            defer { content.heldCompletions = [] }
            return content.heldCompletions
        }
        for completion in held { completion() }
    }

    package func memoryImage(forKey key: String) -> Image? { edit { $0.memory[key] } }

    package func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        completion(diskEntry(forKey: key))
        return Query()
    }

    package func diskEntry(forKey key: String) -> CachedImageData? {
        edit { content in
            content.diskReads.append(key)
            return content.disk[key]
        }
    }

    package func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        let (key, cacheType) = (request.key, request.cacheType)
        let isHeld = edit { content -> Bool in
            content.stores.append((key, cacheType, request.image != nil, request.data != nil))
            content.requests.append(request)
            if cacheType.includesMemory, let image = request.image { content.memory[key] = image }
            if cacheType.includesDisk, let data = request.data ?? substitute {
                content.disk[key] = CachedImageData(
                    data: data,
                    extendedData: request.extendedData ?? request.image?.extendedData,
                    validators: request.validators
                )
            }
            if content.holdsCompletions, let completion { content.heldCompletions.append(completion) }
            return content.holdsCompletions
        }
        if !isHeld { completion?() }
    }

    package func amend(validators: CacheValidators?, forKey key: String) {
        edit { $0.disk[key]?.validators = validators }
    }

    package func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        edit { content in
            if cacheType.includesMemory { content.memory[key] = nil }
            if cacheType.includesDisk { content.disk[key] = nil }
        }
        completion?()
    }

    package func containsImage(
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

    package func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        edit { content in
            if cacheType.includesMemory { content.memory = [:] }
            if cacheType.includesDisk { content.disk = [:] }
        }
        completion?()
    }
}
