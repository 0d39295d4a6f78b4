import FoundationEssentials
import WebImage

/// The options that every command which loads something takes.
struct CommonOptions: Sendable {
    var cacheDirectory: String?
    var namespace: String
    var usesCache: Bool
    /// A transformer that is asked for is meant for every source.
    var options: WebImageOptions = [.transformAnimatedImage, .transformVectorImage]
    var json: Bool
    var isQuiet: Bool
    var maxConcurrent: Int
    /// How long what is cached serves.
    var cachePolicy: CachePolicy
    /// Where pictures are decoded.
    var decoding: DecodingPlace
    /// Which sources may be asked.
    var policy: SourcePolicy
    /// The most bytes of decoded pictures; 0 for no limit.
    var memoryBudget: Int
    private var headers: [(String, String)] = []
    private var timeout: Double?

    static let cacheSpecs: [OptionSpec] = [
        OptionSpec("--cache-dir", value: "DIR", "where caches are; $XDG_CACHE_HOME/webimage by default"),
        OptionSpec("--namespace", value: "NAME", "which cache in there; 'default' by default"),
        OptionSpec("--json", "one JSON object per line on standard output"),
    ]

    static let loadSpecs: [OptionSpec] =
        cacheSpecs + [
            OptionSpec("--no-cache", "neither read nor write the cache"),
            OptionSpec("--refresh", "load anew what is in the cache, and store it"),
            OptionSpec(
                "--cache-policy",
                value: "POLICY",
                "how long what is cached serves: immutable, http, revalidate or ttl=SECONDS"
            ),
            OptionSpec("--cache-only", "load nothing; what is not in the cache is an error"),
            OptionSpec("--header", short: "-H", value: "'NAME: VALUE'", "send a header field; may be repeated"),
            OptionSpec("--timeout", value: "SECONDS", "longest time for one download; without it 15 s without a byte"),
            OptionSpec("--isolated", "decode in processes without files, network and much memory; no previews"),
            OptionSpec("--max-concurrent", short: "-j", value: "N", "downloads at once; 6 by default"),
            OptionSpec("--quiet", "no progress bars and no lines about successes"),
        ] + SourceOptions.specs

    /// Of commands that decode.
    static let memorySpecs: [OptionSpec] = [
        OptionSpec(
            "--memory-budget",
            value: "BYTES",
            "most memory for decoded pictures, such as 512M; more waits, or is made smaller"
        )
    ]

    init(_ arguments: ParsedArguments) throws {
        policy = try SourceOptions.policy(arguments)
        cacheDirectory = arguments.value("--cache-dir")
        namespace = arguments.value("--namespace") ?? policy.cacheNamespace
        usesCache = !arguments.has("--no-cache")
        json = arguments.has("--json")
        isQuiet = arguments.has("--quiet")
        decoding = (arguments.has("--isolated") ? .isolated : policy.decoding).within(policy)
        maxConcurrent = try arguments.integer("--max-concurrent", in: 1...256) ?? 6
        memoryBudget = try arguments.value("--memory-budget").map(Self.memoryBudget) ?? 0
        timeout = try arguments.number("--timeout", in: 0.001...86_400)
        cachePolicy = try arguments.value("--cache-policy").map(Self.policy) ?? .immutable
        let modes = ["--no-cache", "--refresh", "--cache-only"].filter(arguments.has)
        guard modes.count <= 1 else { throw UsageError("\(modes.joined(separator: " and ")) do not go together") }
        guard usesCache || !arguments.has("--cache-policy") else {
            throw UsageError("--no-cache and --cache-policy do not go together")
        }
        if arguments.has("--refresh") { options.insert(.fromLoaderOnly) }
        if arguments.has("--cache-only") { options.insert(.fromCacheOnly) }
        for text in arguments.values("--header") { headers.append(try Self.header(text)) }
        for (name, value) in [("--cache-dir", cacheDirectory), ("--namespace", namespace)] where value?.isEmpty == true
        {
            throw UsageError("\(name) needs a value")
        }
    }

    func makeCache() -> ImageCache { ImageCache(namespace: namespace, directory: cacheDirectory) }

    /// The disk level of that cache alone.
    func makeDiskCache() -> DiskCache {
        DiskCache(path: ImageCache.diskCachePath(namespace: namespace, directory: cacheDirectory))
    }

    /// Where downloads are kept that broke off.
    private var partialDirectory: String { (cacheDirectory ?? ImageCache.defaultDiskCacheDirectory) + "/partial" }

    /// Removes what is kept of downloads that broke off.
    func removePartialDownloads() async {
        var config = WebImageDownloaderConfig()
        config.partialDownloadDirectory = partialDirectory
        let downloader = WebImageDownloader(config: config)
        await withCheckedContinuation { continuation in
            downloader.removePartialDownloads(callbackQueue: .inline) { continuation.resume() }
        }
    }

    private var downloaderConfig: WebImageDownloaderConfig {
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = maxConcurrent
        if usesCache { config.partialDownloadDirectory = partialDirectory }
        if let timeout {
            config.totalTimeout = timeout
            config.downloadTimeout = min(timeout, config.downloadTimeout)
            config.connectTimeout = min(timeout, config.connectTimeout)
        }
        return config
    }

    func makeManager(_ cache: any ImageCaching) -> WebImageManager {
        guard policy.isTrusted else {
            let manager = WebImageManager(policy: policy, cache: cache, config: downloaderConfig)
            if let downloader = manager.imageLoader as? WebImageDownloader { addFields(to: downloader) }
            return manager
        }
        let downloader = WebImageDownloader(config: downloaderConfig)
        addFields(to: downloader)
        let loaders: [any ImageLoading] = [
            FileImageLoader.shared, DataURLImageLoader.shared, StandardInput.loader, downloader,
        ]
        return WebImageManager(cache: cache, loader: ImageLoadersManager(loaders: loaders))
    }

    private func addFields(to downloader: WebImageDownloader) {
        for (name, value) in headers { downloader.setValue(value, forHTTPHeaderField: name) }
    }

    private static func memoryBudget(_ text: String) throws -> Int {
        guard let bytes = ByteCount.parse(text), bytes >= 1_000_000 else {
            throw UsageError("--memory-budget takes a number of bytes from 1M on, such as 512M, not '\(text)'")
        }
        return Int(bytes)
    }

    private static func policy(_ text: String) throws -> CachePolicy {
        switch text {
        case "immutable": return .immutable
        case "http": return .http
        case "revalidate": return .revalidate
        default: break
        }
        let digits = text.dropFirst("ttl=".count)
        guard text.hasPrefix("ttl="), let seconds = Double(digits), seconds >= 0, seconds.isFinite,
            digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 })
        else {
            throw UsageError("--cache-policy takes immutable, http, revalidate or ttl=SECONDS, not '\(text)'")
        }
        return .ttl(seconds)
    }

    private static func header(_ text: String) throws -> (String, String) {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw UsageError("--header takes 'Name: value', not '\(text)'")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return (String(text[..<colon]), String(value))
    }
}

/// The manager and cache of one run.
struct Session: Sendable {
    let manager: WebImageManager
    /// Nil with `--no-cache`.
    let cache: ImageCache?
    let common: CommonOptions

    init(_ common: CommonOptions) {
        self.common = common
        DecodedMemoryBudget.shared.byteLimit = common.memoryBudget
        cache = common.usesCache ? common.makeCache() : nil
        manager = common.makeManager(cache ?? NoCache.shared)
        manager.decoding = common.decoding
        common.decoding.isolation?.prepare()
        // Without a cache there is nothing to be judged.
        if cache != nil { manager.cachePolicy = common.cachePolicy }
    }

    /// What decodes where no manager does.
    var coder: any ImageCoder {
        guard let isolation = common.decoding.isolation else { return ImageCodersManager.shared }
        return IsolatedImageCoder(isolation)
    }

    /// A context for a source: what lies on this machine already is not put into the cache on disk, and without a cache none is
    /// asked.
    func context(for source: Source) -> WebImageContext {
        var context = WebImageContext()
        guard cache != nil else {
            context.queryCacheType = ImageCacheType.none
            context.storeCacheType = ImageCacheType.none
            context.originalQueryCacheType = ImageCacheType.none
            context.originalStoreCacheType = ImageCacheType.none
            return context
        }
        guard !source.isRemote else { return context }
        context.queryCacheType = .memory
        context.storeCacheType = .memory
        context.originalQueryCacheType = ImageCacheType.none
        context.originalStoreCacheType = ImageCacheType.none
        return context
    }

    /// Waits until everything is on disk, what is newer than a stale picture that was delivered included.
    func close() async {
        await manager.finishRefreshes()
        await cache?.flush()
    }
}

/// A cache that holds nothing, for `--no-cache`.
final class NoCache: ImageCaching {
    static let shared = NoCache()

    private final class Done: WebImageOperation {
        func cancel() {}
        var isCancelled: Bool { false }
    }

    func memoryImage(forKey key: String) -> Image? { nil }
    func diskEntry(forKey key: String) -> CachedImageData? { nil }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        completion(nil)
        return Done()
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) { completion?() }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        completion?()
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        completion(.none)
    }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) { completion?() }
}
