import FoundationEssentials

extension WebImageManager {
    /// Creates a manager with a source policy, such as ``SourcePolicy/untrusted`` for URLs from untrusted users.
    ///
    /// The formats in ``SourcePolicy/isolatedFormats`` (by default all) are decoded in worker processes; ``decoding`` can be set to more or less.
    /// Without a worker program (``DecodeWorker``), their loads end with ``WebImageError/Code/decoderUnavailable``.
    ///
    /// The manager has a separate downloader, which is its ``imageLoader`` unless the policy also allows `data` URLs; its
    /// ``WebImageDownloaderConfig/sourcePolicy`` is the policy. Files and custom loaders are excluded: a load whose context names a loader is
    /// refused.
    ///
    /// URLs are checked before the caches are queried, so a refused URL is never served from a cache.
    ///
    /// - Parameters:
    ///   - policy: The sources and costs to allow. With ``SourcePolicy/trusted``, the manager is like any other, with a separate downloader.
    ///   - cache: The image cache. Nil, the default, is a cache with the policy's namespace (``SourcePolicy/cacheNamespace``) in the default
    ///     directory, shared by managers with equal policies. A cache shared with other managers would also serve their images for an untrusted
    ///     URL, even one whose host only those managers may contact.
    ///   - config: The downloader's config. Its policy is replaced; its limits apply where they are tighter than the policy's.
    public convenience init(
        policy: SourcePolicy,
        cache: (any ImageCaching)? = nil,
        config: WebImageDownloaderConfig = .default
    ) {
        var config = config
        config.sourcePolicy = policy
        self.init(policy: policy, cache: cache, downloader: WebImageDownloader(config: config))
    }

    /// Creates a manager with a source policy and a memory limit; see ``init(policy:cache:config:)``.
    package convenience init(
        policy: SourcePolicy,
        cache: any ImageCaching,
        config: WebImageDownloaderConfig,
        memoryBudget: DecodedMemoryBudget
    ) {
        var config = config
        config.sourcePolicy = policy
        self.init(
            policy: policy,
            cache: cache,
            downloader: WebImageDownloader(config: config),
            pipeline: memoryBudget.pipeline
        )
    }

    /// - Parameter downloader: A downloader whose config has the policy.
    convenience init(
        policy: SourcePolicy,
        cache: (any ImageCaching)?,
        downloader: WebImageDownloader,
        pipeline: Pipeline = .shared
    ) {
        let loader: any ImageLoading =
            if policy.isTrusted {
                ImageLoadersManager(loaders: [DataURLImageLoader.shared, FileImageLoader.shared, downloader])
            } else if policy.schemes.contains(.data) {
                ImageLoadersManager(loaders: [DataURLImageLoader(policy), downloader])
            } else {
                downloader
            }
        self.init(
            cache: cache ?? PolicyCaches.cache(of: policy),
            loader: loader,
            pipeline: pipeline,
            policy: policy
        )
        decoding = policy.decoding
    }

    /// Returns the error that prevents a load from starting under the manager's policy or in this process; nil if it may start. It
    /// also applies to the caches.
    func refusal(of url: URL, _ context: WebImageContext?) -> WebImageError? {
        if let problem = DetachedThread.forkProblem { return problem.with(url: url) }
        guard !policy.isTrusted else { return nil }
        if let loader = context?.imageLoader, loader !== imageLoader {
            let words = "the source is refused: custom loaders do not check the addresses they connect to"
            return WebImageError(.sourceRefused, words, url: url)
        }
        return policy.refusal(of: url)
    }
}

extension SourcePolicy {
    /// The place where images are decoded under the policy, unless a manager or a context overrides it: ``isolatedFormats`` in
    /// separate processes, the others in this one.
    public var decoding: DecodingPlace {
        guard !isTrusted, !isolatedFormats.isEmpty else { return .inProcess }
        var isolation = DecodeIsolation(formats: isolatedFormats)
        isolation.domain = cacheNamespace
        if maximumDecodeDuration > 0 { isolation.maximumDecodeDuration = maximumDecodeDuration }
        return .isolated(isolation)
    }
}

/// The caches of policies, as long as they are in use: managers with equal policies share one.
enum PolicyCaches {
    private struct Place {
        weak var cache: ImageCache?
    }

    private static let places = Lock<[String: Place]>([:])

    static func cache(of policy: SourcePolicy) -> ImageCache {
        guard !policy.isTrusted else { return .shared }
        let namespace = policy.cacheNamespace
        if let cache = places.withLock({ $0[namespace]?.cache }) { return cache }
        // Created without the lock: it accesses directories.
        let made = ImageCache(namespace: namespace)
        return places.withLock { places in
            if let cache = places[namespace]?.cache { return cache }
            places = places.filter { $0.value.cache != nil }
            places[namespace] = Place(cache: made)
            return made
        }
    }
}
