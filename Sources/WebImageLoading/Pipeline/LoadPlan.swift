import FoundationEssentials

/// How one image is loaded, resolved once from a URL, options, context and the manager's defaults.
///
/// Stages contain the ones before them, and each is the key of the work that performs it: loads share the work of a stage if their plans
/// are equal up to there. So what a stage depends on is a property of its value, and there is no second key to copy it to.
struct LoadPlan: Sendable {
    /// Getting bytes from a loader.
    struct Fetch: Hashable, Sendable {
        /// The absolute URL, by which URLs are compared.
        let address: String
        let url: Uncompared<URL>
        /// The loader that serves the URL, not a collection of loaders.
        let loader: Identified<any ImageLoading, ObjectIdentifier>
        /// Which settings of the loader hold: loads do not join those that were asked for before a change.
        let generation: Int
        /// Only those that change what is sent; see ``WebImageOptions/affectingRequest``.
        let options: WebImageOptions
        var headers: HTTPHeaders
        let loadValues: OptionValues
        /// The hooks and the retry policy of the context; nil for most loads.
        let hooks: Boxed<LoadHooks>?
        /// Owns the hooks.
        let rare: Uncompared<WebImageContext.Rare?>
        let rights: LoadRights
        /// Whether it waits while too many downloaded bytes are still to be decoded.
        let isGated: Uncompared<Bool>

        init(_ request: ImageLoadRequest, by loader: any ImageLoading, rights: LoadRights = .none, isGated: Bool = true)
        {
            let request = request.reduced
            let source = loader.source(of: request)
            address = request.url.absoluteString
            url = Uncompared(value: request.url)
            self.loader = Identified(source.loader, by: source.id)
            generation = source.generation
            options = request.options
            headers = request.additionalHeaders
            loadValues = request.loadValues
            hooks = LoadHooks(request.context).map { Boxed($0) }
            rare = Uncompared(value: request.context?.rare)
            self.rights = rights
            self.isGated = Uncompared(value: isGated)
        }
    }

    /// How long what is cached of an original serves.
    struct Revalidation: Hashable, Sendable {
        /// Whether the loader is asked whatever is known, and what is cached shown meanwhile (``WebImageOptions/refreshCached``).
        let asksAlways: Bool
        let policy: CachePolicy
        let request: HTTPCacheRequest
        /// What is known of an original that is not on disk, from what was made of it.
        var derived: Boxed<DerivedSource>?
        /// Whether something is cached of which nothing is known.
        var isInMemory = false

        /// The same for a load that gets what is stale only if the loader cannot be asked.
        var byPolicy: Revalidation { Revalidation(asksAlways: false, policy: policy, request: request) }
    }

    /// Getting the original bytes, from disk or from a loader.
    struct Original: Hashable, Sendable {
        /// Nil if only the caches may be asked.
        var fetch: Boxed<Fetch>?
        let cache: Identified<any ImageCaching, ObjectIdentifier>
        /// Nil if the caches must not be asked, or the key filter returned none.
        let cacheKey: String?
        var queriesDisk: Bool
        let storesDisk: Bool
        /// Nil if what is on disk serves as long as it lies there.
        var revalidation: Boxed<Revalidation>?
        /// The bytes, if they are at hand.
        var given: Identified<GivenData, ObjectIdentifier>?
        /// Asked before the loader is; nil if it may be.
        var permission: Permission?
        let rule: Uncompared<StorageRule>
        /// Whether loads under ``rule`` store something else than others.
        let isSelective: Bool
        /// What is required of an entry on disk; nil for nothing.
        var entryRule: EntryRule?
        /// Makes the bytes that are written to disk; nil to write them as they came.
        let serializer: Identified<CacheSerializer, ObjectIdentifier>?
        /// Whether it replaces work that has looked at the disk.
        var isSecondTry = Uncompared(value: false)

        init(
            fetch: Boxed<Fetch>?,
            cache: any ImageCaching,
            cacheKey: String?,
            queriesDisk: Bool,
            storesDisk: Bool,
            revalidation: Revalidation? = nil,
            permission: Permission? = nil,
            rule: StorageRule = StorageRule(),
            entryRule: EntryRule? = nil,
            serializer: CacheSerializer? = nil
        ) {
            self.fetch = fetch
            self.cache = Identified(cache, by: ObjectIdentifier(cache))
            self.cacheKey = cacheKey
            self.queriesDisk = queriesDisk
            self.storesDisk = storesDisk
            self.revalidation = cacheKey == nil ? nil : revalidation.map { Boxed($0) }
            self.permission = fetch == nil ? nil : permission
            self.rule = Uncompared(value: rule)
            isSelective = rule.isSelective
            self.entryRule = queriesDisk ? entryRule : nil
            self.serializer = storesDisk ? serializer.map { Identified($0) } : nil
        }
    }

    /// Making an image of the original bytes.
    struct Decode: Hashable, Sendable {
        var original: Boxed<Original>
        let coder: Identified<any ImageCoder, CoderIdentity>
        let options: ImageDecodeOptions
        /// Whether previews are made while the bytes arrive.
        var isProgressive: Bool
        /// How an image that came without bytes is encoded for the disk; nil for the defaults. Not compared: one entry is written for all
        /// loads that share the bytes, with the options of the one that started.
        let encodeOptions: Uncompared<Boxed<ImageEncodeOptions>?>
        /// The first transformer that the image is passed to. Not compared: only the memory it needs is asked for.
        let transformer: Uncompared<(any ImageTransformer)?>

        init(
            original: Boxed<Original>,
            coder: any ImageCoder,
            options: ImageDecodeOptions,
            encodeOptions: Boxed<ImageEncodeOptions>? = nil,
            isProgressive: Bool = false,
            transformer: (any ImageTransformer)? = nil
        ) {
            self.original = original
            self.coder = Identified(coder, by: CoderIdentity(coder))
            self.options = options
            self.isProgressive = isProgressive && original.value.fetch != nil && coder is any ProgressiveImageCoder
            self.encodeOptions = Uncompared(value: encodeOptions)
            self.transformer = Uncompared(value: transformer)
        }
    }

    /// Storing the original bytes on disk without making the image for anybody.
    struct Store: Hashable, Sendable {
        let decode: Boxed<Decode>
        /// Whether the bytes are decoded before; otherwise only their header is read.
        let decodes: Bool
    }

    /// The transformers of a load.
    struct Chain: Hashable, Sendable {
        private(set) var transformers: [Identified<any ImageTransformer, String>]
        /// What the transformers are applied to; open without any.
        let gate: TransformGate

        init(_ transformers: [any ImageTransformer], gate: TransformGate = .open) {
            self.transformers = transformers.map { Identified($0, by: $0.transformerKey) }
            self.gate = transformers.isEmpty ? .open : gate
        }

        var isEmpty: Bool { transformers.isEmpty }
        var first: (any ImageTransformer)? { transformers.first?.value }
        var last: (any ImageTransformer)? { transformers.last?.value }
        /// All as one; nil for none.
        var whole: PipelineTransformer? { isEmpty ? nil : PipelineTransformer(transformers.map(\.value)) }
        /// The key of ``whole``.
        var key: String { transformers.map(\.id).joined(separator: "-") }
        /// All but the last.
        var droppingLast: Chain {
            var copy = self
            copy.transformers.removeLast()
            return copy
        }
    }

    /// Applying a chain, or the beginning of one, to the decoded image.
    struct Transform: Hashable, Sendable {
        let decode: Boxed<Decode>
        /// At least one transformer.
        var chain: Chain
        /// Where the results of shorter chains may be in memory, and the key they are based on; nil to not look.
        let memory: Uncompared<(cache: any ImageCaching, baseKey: String)?>
        /// What the result is passed to in a longer chain: only the memory it needs is asked for.
        var next: Uncompared<(any ImageTransformer)?> = Uncompared(value: nil)
    }

    /// Reading an entry of a disk cache.
    struct DiskEntry: Hashable, Sendable {
        let cache: Identified<any ImageCaching, ObjectIdentifier>
        let cacheKey: String
        /// Of the key when the read was asked for: one that is asked for after a store does not join one from before it. Nil for a cache that
        /// does not tell.
        let generation: Generation?

        init(cache: any ImageCaching, cacheKey: String, generation: Generation? = nil) {
            self.cache = Identified(cache, by: ObjectIdentifier(cache))
            self.cacheKey = cacheKey
            self.generation = generation ?? (cache as? ImageCache)?.generation(forKey: cacheKey)
        }
    }

    /// Getting the image that callers asked for, stored where they want it.
    struct Result: Hashable, Sendable {
        let url: Uncompared<URL>
        var decode: Boxed<Decode>
        let chain: Chain
        let cache: Identified<any ImageCaching, ObjectIdentifier>
        /// The key of the result; nil if the caches take no part.
        let cacheKey: String?
        var queriesMemory: Bool
        var queriesDisk: Bool
        var queriesOriginalMemory: Bool
        /// Whether those who wait were shown what memory has, before it is refreshed.
        var isShown = false
        /// Whether an image from memory gets its encoded bytes from disk (``WebImageOptions/queryMemoryData``).
        let readsMemoryData: Bool
        let store: ImageCacheType
        let storesOriginalInMemory: Bool
        /// Nil for the defaults.
        let encodeOptions: Boxed<ImageEncodeOptions>?
        /// Makes the bytes that are written to disk; nil if nothing is written.
        let serializer: Identified<CacheSerializer, ObjectIdentifier>?
        /// Whether what is stored replaces what is there, whatever the caches do by themselves.
        var replaces: Bool
    }

    /// Asked whether a loader may be; equal to none of another load.
    typealias Permission = Identified<@Sendable () -> Bool, ObjectIdentifier>

    let result: Boxed<Result>
}

// MARK: Reading it

extension LoadPlan {
    var url: URL { result.value.url.value }
    var decode: DecodeWork { DecodeWork(plan: result.value.decode) }
    var chain: Chain { result.value.chain }
    /// The work of the chain, which has at least one transformer.
    var transform: TransformWork {
        let memory = Uncompared(value: prefixMemory)
        return TransformWork(plan: Boxed(Transform(decode: result.value.decode, chain: chain, memory: memory)))
    }
    var gate: TransformGate { chain.gate }
    var cacheKey: String? { result.value.cacheKey }
    var cache: any ImageCaching { result.value.cache.value }
    var queriesMemory: Bool { result.value.queriesMemory }
    var store: ImageCacheType { result.value.store }
    var replaces: Bool { result.value.replaces }

    var originalKey: String? { decode.original.cacheKey }
    /// Whether the result is the original itself, and not a thumbnail or transformed.
    var isOriginal: Bool { cacheKey == originalKey }
    /// Whether result and original are one entry of one cache.
    var isOriginalEntry: Bool { isOriginal && cache === decode.original.cache }
    /// Whether to look on disk for the result as it was stored. The original is looked for by ``OriginalWork``.
    var queriesDerivedDisk: Bool { result.value.queriesDisk && !(isOriginalEntry && decode.original.queriesDisk) }
    /// The loader, if one may be asked.
    var loader: (any ImageLoading)? { decode.original.fetch?.loader }

    /// The key of what the chain is applied to.
    var untransformedKey: String? {
        guard let originalKey else { return nil }
        let options = decode.options
        guard options.isThumbnail, let size = options.thumbnailPixelSize else { return originalKey }
        return CacheKeys.thumbnail(
            originalKey,
            size: size,
            preserveAspectRatio: options.preserveAspectRatio,
            covers: options.thumbnailCovers
        )
    }

    /// The memory that may hold results of shorter chains.
    var prefixMemory: (cache: any ImageCaching, baseKey: String)? {
        // The keys of shorter chains tell nothing of a scale of the context's.
        guard queriesMemory, let originalKey, decode.options.scaleFactor == ImageScaleFactor.forKey(originalKey),
            let untransformedKey
        else { return nil }
        return (cache, untransformedKey)
    }

    /// How an entry is decoded that was stored under the result's own key.
    var derivedOptions: ImageDecodeOptions {
        var options = decode.options
        if !isOriginal { options.thumbnailPixelSize = nil }
        return options
    }
}
