import FoundationEssentials

extension WebImageManager {
    /// A manager for sources that a policy is to look after, with ``SourcePolicy/untrusted`` for URLs that strangers name.
    ///
    /// All formats (``SourcePolicy/isolatedFormats``) are decoded in worker processes (``decoding``, which can be set to more or less). Where there
    /// is no worker program (``DecodeWorker``), loads end with ``WebImageError/Code/decoderUnavailable``.
    ///
    /// It has a downloader of its own, which is its ``imageLoader`` unless the policy allows `data` URLs, too, and whose
    /// ``WebImageDownloaderConfig/sourcePolicy`` is the policy. Files and loaders of one's own have no part in it: a load whose context
    /// names a loader is refused.
    ///
    /// URLs are looked at before the caches are, so nothing is served for one that may not be asked.
    ///
    /// - Parameters:
    ///   - policy: what is allowed. With ``SourcePolicy/trusted`` the manager is like any other, on a downloader of its own.
    ///   - cache: where pictures are kept. Nil, the default, is a cache of the policy's own namespace
    ///     (``SourcePolicy/cacheNamespace``) in the default directory, which managers with like policies share. One that other managers
    ///     use would serve their pictures for a stranger's URL, too, if its host is a name of a place that only they may ask.
    ///   - config: the downloader's config, whose policy is replaced, and whose bounds hold where they are tighter than the policy's.
    public convenience init(
        policy: SourcePolicy,
        cache: (any ImageCaching)? = nil,
        config: WebImageDownloaderConfig = .default
    ) {
        var config = config
        config.sourcePolicy = policy
        self.init(policy: policy, cache: cache, downloader: WebImageDownloader(config: config))
    }

    /// - Parameter downloader: one with the policy in its config.
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

    /// Why a load does not begin, under the manager's policy or in this process; nil where it may. What is decided here holds for the
    /// caches, too.
    func refusal(of url: URL, _ context: WebImageContext?) -> WebImageError? {
        if let problem = DetachedThread.forkProblem { return problem.with(url: url) }
        guard !policy.isTrusted else { return nil }
        if let loader = context?.imageLoader, loader !== imageLoader {
            let words = "the source is refused: a loader of one's own does not check where it goes"
            return WebImageError(.sourceRefused, words, url: url)
        }
        return policy.refusal(of: url)
    }
}

extension SourcePolicy {
    /// Where pictures are decoded under the policy, unless a manager or a context says otherwise: ``isolatedFormats`` in processes of
    /// their own, the others in this one.
    public var decoding: DecodingPlace {
        guard !isTrusted, !isolatedFormats.isEmpty else { return .inProcess }
        var isolation = DecodeIsolation(formats: isolatedFormats)
        isolation.domain = cacheNamespace
        if maximumDecodeDuration > 0 { isolation.maximumDecodeDuration = maximumDecodeDuration }
        return .isolated(isolation)
    }
}

/// The caches of policies, as long as anybody uses them: managers with like policies share one.
enum PolicyCaches {
    private struct Place {
        weak var cache: ImageCache?
    }

    private static let places = Lock<[String: Place]>([:])

    static func cache(of policy: SourcePolicy) -> ImageCache {
        guard !policy.isTrusted else { return .shared }
        let namespace = policy.cacheNamespace
        if let cache = places.withLock({ $0[namespace]?.cache }) { return cache }
        // Made without the lock: it looks at directories.
        let made = ImageCache(namespace: namespace)
        return places.withLock { places in
            if let cache = places[namespace]?.cache { return cache }
            places = places.filter { $0.value.cache != nil }
            places[namespace] = Place(cache: made)
            return made
        }
    }
}
