import FoundationEssentials
import WebImage
import WebImageFleet

/// The options of every command that loads images.
struct CommonOptions: Sendable {
    var cacheDirectory: String?
    var namespace: String
    var usesCache: Bool
    /// Requested transformers apply to every source.
    var options: WebImageOptions = [.transformAnimatedImage, .transformVectorImage]
    var json: Bool
    var isQuiet: Bool
    var maxConcurrent: Int
    /// The policy that decides how long cached images stay usable.
    var cachePolicy: CachePolicy
    /// The place where images are decoded.
    var decoding: DecodingPlace
    /// The policy for allowed sources.
    var policy: SourcePolicy
    /// The store that machines share; nil for none.
    var remoteStore: RemoteImageStore?
    /// The maximum bytes of decoded images; 0 for no limit.
    var memoryBudget: Int
    private var headers: [(String, String)] = []
    private var timeout: Double?

    static let cacheSpecs: [OptionSpec] = [
        OptionSpec("--cache-dir", value: "DIR", "parent directory of the caches; $XDG_CACHE_HOME/webimage by default"),
        OptionSpec("--namespace", value: "NAME", "name of the cache in that directory; 'default' by default"),
        OptionSpec("--json", "one JSON object per line on standard output"),
    ]

    static let loadSpecs: [OptionSpec] =
        cacheSpecs + [
            OptionSpec("--no-cache", "neither read nor write the cache"),
            OptionSpec("--refresh", "ignore cached images: load them again and store them"),
            OptionSpec(
                "--cache-policy",
                value: "POLICY",
                "how long cached images stay fresh: immutable, http, revalidate or ttl=SECONDS"
            ),
            OptionSpec("--cache-only", "use only the cache; an image that is not cached is an error"),
            OptionSpec(
                "--remote-cache",
                value: "URL",
                "share images: redis[s]://[USER:PASSWORD@]HOST, s3://BUCKET; or $WEBIMAGE_REMOTE_CACHE"
            ),
            OptionSpec("--header", short: "-H", value: "'NAME: VALUE'", "send a header field; may be repeated"),
            OptionSpec(
                "--timeout",
                value: "SECONDS",
                "maximum time of one download; by default, it fails after 15 s without data"
            ),
            OptionSpec(
                "--isolated",
                "decode in sandboxed processes: no files, no network, limited memory; no previews"
            ),
            OptionSpec("--max-concurrent", short: "-j", value: "N", "maximum concurrent downloads; 6 by default"),
            OptionSpec("--quiet", "no progress bars and no lines for successful sources"),
        ] + OptionSpec.remoteStore + SourceOptions.specs

    /// Options of commands that decode.
    static let memorySpecs: [OptionSpec] = [
        OptionSpec(
            "--memory-budget",
            value: "BYTES",
            "memory limit of decoded images (512M); at the limit, images wait or are scaled down"
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
        guard modes.count <= 1 else { throw UsageError("\(modes.joined(separator: " and ")) cannot be combined") }
        guard usesCache || !arguments.has("--cache-policy") else {
            throw UsageError("--no-cache and --cache-policy cannot be combined")
        }
        remoteStore = try remoteStore(arguments)
        if arguments.has("--refresh") { options.insert(.fromLoaderOnly) }
        if arguments.has("--cache-only") { options.insert(.fromCacheOnly) }
        for text in arguments.values("--header") { headers.append(try Self.header(text)) }
        for (name, value) in [("--cache-dir", cacheDirectory), ("--namespace", namespace)] where value?.isEmpty == true
        {
            throw UsageError("\(name) needs a value")
        }
    }

    /// A password is safer in the environment than among the arguments, which other users of the machine can see.
    private func remoteStore(_ arguments: ParsedArguments) throws -> RemoteImageStore? {
        if !usesCache, arguments.has("--remote-cache") {
            throw UsageError("--no-cache and --remote-cache cannot be combined")
        }
        let variable = Terminal.environment("WEBIMAGE_REMOTE_CACHE").flatMap { $0.isEmpty ? nil : $0 }
        guard usesCache, let text = arguments.value("--remote-cache") ?? variable else { return nil }
        return try RemoteOptions.store(text, arguments)
    }

    /// The coder for decoding without a manager.
    var coder: any ImageCoder {
        guard let isolation = decoding.isolation else { return ImageCodersManager.shared }
        return IsolatedImageCoder(isolation)
    }

    func makeCache() -> ImageCache { ImageCache(namespace: namespace, directory: cacheDirectory) }

    /// Creates only the disk level of that cache.
    func makeDiskCache() -> DiskCache {
        DiskCache(path: ImageCache.diskCachePath(namespace: namespace, directory: cacheDirectory))
    }

    /// The directory of interrupted downloads.
    private var partialDirectory: String { (cacheDirectory ?? ImageCache.defaultDiskCacheDirectory) + "/partial" }

    /// Removes the stored parts of interrupted downloads.
    func removePartialDownloads() async {
        var config = WebImageDownloaderConfig()
        config.partialDownloadDirectory = partialDirectory
        let downloader = WebImageDownloader(config: config)
        await awaitCompletion { downloader.removePartialDownloads(callbackQueue: .inline, completion: $0) }
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
            throw UsageError("--memory-budget takes a number of bytes of at least 1M, such as 512M, not '\(text)'")
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
        let cache = common.usesCache ? common.makeCache() : nil
        self.cache = cache
        let tiers = common.remoteStore.flatMap { store in
            cache.map { TieredImageCache(local: $0, remote: store, patience: 10) }
        }
        let used: (any ImageCaching)? = tiers ?? cache
        manager = common.makeManager(used ?? NullCache.shared)
        manager.decoding = common.decoding
        common.decoding.isolation?.prepare()
        // Without a cache, no cache policy applies.
        if cache != nil { manager.cachePolicy = common.cachePolicy }
    }

    /// Returns a context for a source: local files are not stored in the disk cache, and with `--no-cache` no cache is used.
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

    /// Waits until everything is on disk and in the remote store, including background refreshes of stale images, and until interrupted
    /// downloads that are complete now have been removed.
    func close() async {
        await manager.finishRefreshes()
        await cache?.flush()
        await CacheRegistry.shared.flushWriters()
    }
}

/// A cache that stores nothing, for `--no-cache`.
final class NullCache: ImageCaching {
    static let shared = NullCache()

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
