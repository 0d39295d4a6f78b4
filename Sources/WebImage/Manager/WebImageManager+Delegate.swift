import FoundationEssentials

extension WebImageManager {
    /// Decides what may be downloaded and which failures are remembered; held weakly, nil by default. Loads of a manager with a
    /// delegate look through the caches first, for themselves, and ask it then.
    public var delegate: (any WebImageManagerDelegate)? {
        get { settings.withLock { $0.delegate } }
        set { settings.withLock { $0.delegate = newValue } }
    }

    /// Whether the delegate allows a URL to be downloaded; asked after a cache miss, and before a refresh. True without one.
    func mayDownload(_ url: URL) -> Bool {
        delegate?.imageManager(self, shouldDownloadImageFor: url) ?? true
    }

    /// Looks through the caches, asks the delegate if there is nothing, and then goes on as every load does.
    func startAsking(
        _ operation: WebImageLoadOperation,
        plan: LoadPlan,
        url: URL,
        options: WebImageOptions,
        context: WebImageContext?,
        progress: (@Sendable (LoadProgress) -> Void)?
    ) {
        let cacheKey = plan.cacheKey ?? ""
        let load: @Sendable () -> Void = { [self] in
            guard operation.isRunning else { return }
            guard mayDownload(url) else { return operation.end(.failure(.downloadRefused(url))) }
            operation.subscribe(
                to: ResultWork(plan: plan),
                priority: options.loadPriority,
                progress: progress,
                values: previews(of: plan, to: operation, url: url, key: cacheKey)
            ) { [self] result in
                finish(operation, result, plan, url, cacheKey, options)
            }
        }
        guard !options.contains(.fromLoaderOnly) else { return load() }
        let cached = self.plan(
            url: url,
            originalKey: plan.originalKey,
            resultKey: plan.cacheKey,
            options: options.union(.fromCacheOnly),
            context: context
        )
        operation.subscribe(
            to: ResultWork(plan: cached),
            priority: options.loadPriority,
            progress: nil
        ) { [self] result in
            if case .failure(let error) = result, error.isCacheMiss { return load() }
            finish(operation, result, plan, url, cacheKey, options)
        }
    }
}

extension WebImageError {
    /// The error of a load that the delegate did not allow.
    static func downloadRefused(_ url: URL) -> WebImageError {
        WebImageError(
            .downloadRefused,
            "it is not cached, and the manager's delegate did not allow a download",
            url: url
        )
    }

    /// Whether a look through the caches that ended with this error found nothing of use: no entry, or one that is no picture.
    var isCacheMiss: Bool { code != .cancelled && code != .transformFailed }
}
