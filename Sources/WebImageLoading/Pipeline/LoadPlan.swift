import FoundationEssentials

/// The plan of one image load, resolved once from a URL, options, context and the manager's defaults.
///
/// Each stage contains the stages before it, and is the key of the work that performs it. Loads whose plans are equal up to a stage
/// share its work (request coalescing). Everything that a stage depends on is a property of its value, so no second key has to be kept
/// in sync.
struct LoadPlan: Sendable {
    /// The stage that gets bytes from a loader.
    struct Fetch: Hashable, Sendable {
        /// The absolute URL string, by which URLs are compared.
        let address: String
        let url: IgnoredInEquality<URL>
        /// The loader that handles the URL, not a collection of loaders.
        let loader: Identified<any ImageLoading, ObjectIdentifier>
        /// The generation of the loader's settings: loads do not join works started before a change.
        let generation: Int
        /// Only the options that change the request; see ``WebImageOptions/affectingRequest``.
        let options: WebImageOptions
        var headers: HTTPHeaders
        let loadValues: OptionValues
        /// The hooks and the retry policy of the context; nil for most loads.
        let hooks: Boxed<LoadHooks>?
        /// Retains the hooks.
        let rare: IgnoredInEquality<WebImageContext.Rare?>
        let rights: LoadRights
        /// True if only parts are read, because the image is a frame of a video.
        var readsParts: Bool
        /// True if it is subject to back-pressure while too many downloaded bytes wait to be decoded.
        let isGated: IgnoredInEquality<Bool>

        /// - Parameter wantsBytes: True if the caller wants all bytes also of a video.
        init(
            _ request: ImageLoadRequest,
            by loader: any ImageLoading,
            rights: LoadRights = .none,
            isGated: Bool = true,
            wantsBytes: Bool = false
        ) {
            let request = request.reduced
            let source = loader.source(of: request)
            address = request.url.absoluteString
            url = IgnoredInEquality(value: request.url)
            self.loader = Identified(source.loader, by: source.id)
            generation = source.generation
            options = request.options
            headers = request.additionalHeaders
            loadValues = request.loadValues
            hooks = LoadHooks(request.context).map { Boxed($0) }
            rare = IgnoredInEquality(value: request.context?.rare)
            self.rights = rights
            readsParts = !wantsBytes && ImageFormat.isVideo(address: address)
            self.isGated = IgnoredInEquality(value: isGated)
        }
    }

    /// The rules for how long a cached original stays usable.
    struct Revalidation: Hashable, Sendable {
        /// True if the loader is asked in any case, and the cached image delivered meanwhile (``WebImageOptions/refreshCached``).
        let asksAlways: Bool
        let policy: CachePolicy
        let request: HTTPCacheRequest
        /// The validators of an original that is not on disk, from an image derived from it.
        var derived: Boxed<DerivedValidators>?
        /// True if a cached image has no known validators.
        var isInMemory = false

        /// The same for a load that accepts a stale image only if the loader cannot be asked.
        var byPolicy: Revalidation { Revalidation(asksAlways: false, policy: policy, request: request) }
    }

    /// The stage that gets the original bytes, from disk or from a loader.
    struct Original: Hashable, Sendable {
        /// Nil if only the caches may be queried.
        var fetch: Boxed<Fetch>?
        let cache: Identified<any ImageCaching, ObjectIdentifier>
        /// Nil if the caches must not be queried, or the key filter returned none.
        let cacheKey: String?
        var queriesDisk: Bool
        let storesDisk: Bool
        /// Nil if the entry on disk never expires.
        var revalidation: Boxed<Revalidation>?
        /// The bytes, if they are already available.
        var given: Identified<GivenData, ObjectIdentifier>?
        /// Called before the loader is asked; nil if no permission is needed.
        var permission: Permission?
        let rule: IgnoredInEquality<StorageRule>
        /// True if loads under ``rule`` store other responses than other loads.
        let isSelective: Bool
        /// The requirements on an entry on disk; nil for none.
        var entryRule: EntryRule?
        /// Produces the bytes written to disk; nil to write the received ones.
        let serializer: Identified<CacheSerializer, ObjectIdentifier>?
        /// The group of loads on all machines that may share entries; nil for none.
        let sharingScope: String?
        /// True if it replaces work that has already queried the disk.
        var isSecondTry = IgnoredInEquality(value: false)
        /// True if the entry gets room for a record of images of other sizes. Not compared: one entry is written for all loads that share
        /// the bytes.
        let keepsVariants: IgnoredInEquality<Bool>

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
            serializer: CacheSerializer? = nil,
            sharingScope: String? = nil,
            keepsVariants: Bool = false
        ) {
            self.keepsVariants = IgnoredInEquality(value: keepsVariants)
            self.fetch = fetch
            self.sharingScope = sharingScope
            self.cache = Identified(cache, by: ObjectIdentifier(cache))
            self.cacheKey = cacheKey
            self.queriesDisk = queriesDisk
            self.storesDisk = storesDisk
            self.revalidation = cacheKey == nil ? nil : revalidation.map { Boxed($0) }
            self.permission = fetch == nil ? nil : permission
            self.rule = IgnoredInEquality(value: rule)
            isSelective = rule.isSelective
            self.entryRule = queriesDisk ? entryRule : nil
            self.serializer = storesDisk ? serializer.map { Identified($0) } : nil
        }
    }

    /// The stage that decodes the original bytes to an image.
    struct Decode: Hashable, Sendable {
        var original: Boxed<Original>
        let coder: Identified<any ImageCoder, CoderIdentity>
        let options: ImageDecodeOptions
        /// True if previews are decoded while bytes arrive.
        var isProgressive: Bool
        /// True if the image says by a hash which bytes it was made of. Loads that neither query nor fill a cache save the time.
        let notesSource: Bool
        /// The thumbnails of the desktop that are queried before the original; nil for none.
        let thumbnails: Identified<DesktopThumbnailCache, ObjectIdentifier>?
        /// The options for encoding an image without bytes for the disk; nil for the defaults. Not compared: one entry is written for all
        /// loads that share the bytes, with the options of the one that started.
        let encodeOptions: IgnoredInEquality<Boxed<ImageEncodeOptions>?>
        /// The first transformer of the chain. Not compared: only its memory need is used.
        let transformer: IgnoredInEquality<(any ImageTransformer)?>

        init(
            original: Boxed<Original>,
            coder: any ImageCoder,
            options: ImageDecodeOptions,
            thumbnails: DesktopThumbnailCache? = nil,
            encodeOptions: Boxed<ImageEncodeOptions>? = nil,
            isProgressive: Bool = false,
            notesSource: Bool = true,
            transformer: (any ImageTransformer)? = nil
        ) {
            self.original = original
            self.coder = Identified(coder, by: CoderIdentity(coder))
            self.options = options
            self.thumbnails = thumbnails.map { Identified($0, by: ObjectIdentifier($0)) }
            self.isProgressive = isProgressive && original.value.fetch != nil && coder is any ProgressiveImageCoder
            self.notesSource = notesSource
            self.encodeOptions = IgnoredInEquality(value: encodeOptions)
            self.transformer = IgnoredInEquality(value: transformer)
        }
    }

    /// The stage that stores the original bytes on disk without an image for callers.
    struct Store: Hashable, Sendable {
        let decode: Boxed<Decode>
        /// True if the bytes are decoded first; otherwise only their header is parsed.
        let decodes: Bool
    }

    /// The transformers of a load.
    struct Chain: Hashable, Sendable {
        private(set) var transformers: [Identified<any ImageTransformer, String>]
        /// The images that the transformers are applied to; all, without transformers.
        let gate: TransformGate

        init(_ transformers: [any ImageTransformer], gate: TransformGate = .open) {
            self.transformers = transformers.map { Identified($0, by: $0.transformerKey) }
            self.gate = transformers.isEmpty ? .open : gate
        }

        var isEmpty: Bool { transformers.isEmpty }
        /// True if the chain makes the same image whether the image is scaled down before or after it.
        var isSizeCovariant: Bool { transformers.allSatisfy { $0.value.isSizeCovariant } }
        var first: (any ImageTransformer)? { transformers.first?.value }
        var last: (any ImageTransformer)? { transformers.last?.value }
        /// The whole chain as one transformer; nil if empty.
        var whole: PipelineTransformer? { isEmpty ? nil : PipelineTransformer(transformers.map(\.value)) }
        /// The key of ``whole``.
        var key: String { transformers.map(\.id).joined(separator: "-") }
        /// The chain without its last transformer.
        var droppingLast: Chain {
            var copy = self
            copy.transformers.removeLast()
            return copy
        }
    }

    /// The stage that applies a chain, or a prefix of one, to the decoded image.
    struct Transform: Hashable, Sendable {
        let decode: Boxed<Decode>
        /// At least one transformer.
        var chain: Chain
        /// The cache that may have the results of shorter chains in memory, and their base key; nil to not look.
        let memory: IgnoredInEquality<(cache: any ImageCaching, baseKey: String)?>
        /// The next transformer in a longer chain: only its memory need is used.
        var next: IgnoredInEquality<(any ImageTransformer)?> = IgnoredInEquality(value: nil)
    }

    /// The stage that reads an entry of a disk cache.
    struct DiskEntry: Hashable, Sendable {
        let cache: Identified<any ImageCaching, ObjectIdentifier>
        let cacheKey: String
        /// The generation of the key when the read was requested: a read requested after a store does not join one from before it. Nil for a
        /// cache without generations.
        let generation: Generation?
        /// The group of loads on all machines that may share the entry; nil for none.
        let sharingScope: String?
        /// True if the loader is asked if there is no entry.
        let isFollowedByLoad: Bool

        init(
            cache: any ImageCaching,
            cacheKey: String,
            generation: Generation? = nil,
            sharingScope: String? = nil,
            isFollowedByLoad: Bool = false
        ) {
            self.cache = Identified(cache, by: ObjectIdentifier(cache))
            self.cacheKey = cacheKey
            self.generation = generation ?? cache.localImageCache?.generation(forKey: cacheKey)
            self.sharingScope = sharingScope
            // Without sharing it changes nothing, and must not keep loads from sharing the read.
            self.isFollowedByLoad = isFollowedByLoad && sharingScope != nil
        }

        /// The query of the cache.
        func query(_ priority: LoadPriority) -> ImageCacheQuery {
            ImageCacheQuery(
                key: cacheKey,
                priority: priority,
                sharingScope: sharingScope,
                isFollowedByLoad: isFollowedByLoad
            )
        }
    }

    /// The stage that gets the requested image and stores it in the requested caches.
    struct Result: Hashable, Sendable {
        let url: IgnoredInEquality<URL>
        var decode: Boxed<Decode>
        let chain: Chain
        let cache: Identified<any ImageCaching, ObjectIdentifier>
        /// The key of the result; nil if no cache is used.
        let cacheKey: String?
        var queriesMemory: Bool
        var queriesDisk: Bool
        var queriesOriginalMemory: Bool
        /// True if the result may be made by scaling an image of another size in memory.
        var scalesVariants: Bool
        /// True if images of other sizes on disk may be used.
        var readsVariants: Bool
        /// The kind under which the original's entry records the result and images of other sizes; nil to record nothing.
        let variantKind: UInt64?
        /// True if the callers already received the image from memory, before it is refreshed.
        var isShown = false
        /// True if an image from memory gets its encoded bytes from disk (``WebImageOptions/queryMemoryData``).
        let readsMemoryData: Bool
        let store: ImageCacheType
        let storesOriginalInMemory: Bool
        /// Nil for the defaults.
        let encodeOptions: Boxed<ImageEncodeOptions>?
        /// Produces the bytes written to disk; nil if nothing is written.
        let serializer: Identified<CacheSerializer, ObjectIdentifier>?
        /// True if the stored image replaces existing entries, even in caches that do not overwrite.
        var replaces: Bool
        /// True if another machine may be making the result, although this load does not ask the loader: it found the original.
        var awaitsOthers = false
    }

    /// The permission to ask a loader; equal to no other load's.
    typealias Permission = Identified<@Sendable () -> Bool, ObjectIdentifier>

    let result: Boxed<Result>
}

// MARK: Properties

extension LoadPlan {
    var url: URL { result.value.url.value }
    var decode: DecodeWork { DecodeWork(plan: result.value.decode) }
    var chain: Chain { result.value.chain }
    /// The work of the chain, which must not be empty.
    var transform: TransformWork {
        let memory = IgnoredInEquality(value: prefixMemory)
        return TransformWork(plan: Boxed(Transform(decode: result.value.decode, chain: chain, memory: memory)))
    }
    var gate: TransformGate { chain.gate }
    var cacheKey: String? { result.value.cacheKey }
    var cache: any ImageCaching { result.value.cache.value }
    var queriesMemory: Bool { result.value.queriesMemory }
    var store: ImageCacheType { result.value.store }
    var replaces: Bool { result.value.replaces }

    var originalKey: String? { decode.original.cacheKey }
    /// True if the result is the original itself, neither a thumbnail nor transformed, nor another page or a developed image.
    var isOriginal: Bool { cacheKey == originalKey }
    /// True if result and original are the same entry of the same cache.
    var isOriginalEntry: Bool { isOriginal && cache === decode.original.cache }
    /// True if the disk is queried for the stored result. ``OriginalWork`` queries it for the original.
    var queriesDerivedDisk: Bool { result.value.queriesDisk && !(isOriginalEntry && decode.original.queriesDisk) }
    /// The loader, if it may be asked.
    var loader: (any ImageLoading)? { decode.original.fetch?.loader }

    /// The key of the image that the chain is applied to.
    var untransformedKey: String? {
        let options = decode.options
        guard let originalKey else { return nil }
        let key = CacheKeys.selection(originalKey, options.page, options.rawDevelopment)
        guard options.isThumbnail, let size = options.thumbnailPixelSize else { return key }
        return CacheKeys.thumbnail(
            key,
            size: size,
            preserveAspectRatio: options.preserveAspectRatio,
            covers: options.thumbnailCovers
        )
    }

    /// The memory cache that may hold results of shorter chains.
    var prefixMemory: (cache: any ImageCaching, baseKey: String)? {
        // The keys of shorter chains do not contain the context's scale.
        guard queriesMemory, let originalKey, decode.options.scaleFactor == ImageScaleFactor.forKey(originalKey),
            let untransformedKey
        else { return nil }
        return (cache, untransformedKey)
    }

    /// The options for decoding an entry stored under the result's own key.
    var derivedOptions: ImageDecodeOptions {
        var options = decode.options
        if !isOriginal {
            (options.thumbnailPixelSize, options.page) = (nil, 0)
            // Bytes that are stored as received, those of other formats, are not affected.
            options.rawDevelopment = .preview
        }
        return options
    }
}
