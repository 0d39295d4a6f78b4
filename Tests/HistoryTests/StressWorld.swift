import FoundationEssentials
import LoadingTestSupport
import TestSupport
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

/// The library as it is, with threads, memory and files, and callers on several threads that execute a history.
final class StressWorld: Sendable {
    /// The outcome of a load.
    final class Load: Sendable {
        struct State {
            var interimCount = 0
            var finalCount = 0
            var hasEnded = false
            weak var operation: WebImageLoadOperation?
        }

        let spec: ModelOperation.Load
        let state = Lock(State())
        init(_ spec: ModelOperation.Load) { self.spec = spec }

        /// A Boolean value that indicates whether all deliveries have been made, as far as one can know.
        var isOver: Bool {
            state.withLock { $0.hasEnded && $0.finalCount + $0.interimCount > 0 }
        }
    }

    struct Callers {
        var loads: [Load] = []
        var held: [WebImageLoadOperation] = []
        var tokens: [WebImagePrefetchToken] = []
        var queries: [ModelQuery] = []
        var prefetches: [PrefetchProgress] = []
        var calls = 0
        var expectedCalls = 0
        /// A Boolean value that indicates whether the limits were changed since the last check.
        var hasNewLimit = false
        var complaints: [String] = []
    }

    let history: ModelHistory
    let server = StressServer()
    let cache: ImageCache
    let manager: WebImageManager
    let prefetcher: WebImagePrefetcher
    let coder = ModelCoder()
    let callers = Lock(Callers())

    init(_ history: ModelHistory, directory: String) {
        self.history = history
        let setup = history.setup
        var config = ImageCacheConfig()
        (config.maxMemoryCost, config.maxMemoryCount) = (setup.memoryCost, setup.memoryCount)
        // Blocks of the file system count, not bytes.
        config.maxDiskSize = setup.diskSize * 100
        config.expiryInterval = 0
        config.maxPendingWriteBytes = setup.maxPendingWriteBytes
        config.writesWithoutOverwriting = setup.keepsExisting
        config.shouldUseWeakMemoryCache = setup.usesWeakCache
        cache = ImageCache(path: directory + "/\(history.seed)", config: config, clock: .system)
        manager = WebImageManager(
            cache: cache,
            loader: server,
            // In the queue of the process, loads of other tests would go before those with a low priority for as long as there are any.
            pipeline: Pipeline(
                decodeQueue: WorkQueue(name: "webimage.stress", width: CodingQueue.processorCount),
                undecodedByteLimit: setup.undecodedByteLimit
            )
        )
        prefetcher = WebImagePrefetcher(manager: manager)
        prefetcher.callbackQueue = .inline
        var context = WebImageContext()
        context.imageCoder = coder
        prefetcher.context = context
    }

    func complain(_ text: String) { callers.withLock { $0.complaints.append("seed \(history.seed): \(text)") } }

    /// Executes every `count`-th operation of a part of the history, from the `first` of it on.
    func perform(_ steps: ArraySlice<ModelStep>, from first: Int, every count: Int) {
        for index in stride(from: steps.startIndex + first, to: steps.endIndex, by: count) {
            perform(steps[index].operation)
        }
    }

    // MARK: Operations

    private func perform(_ operation: ModelOperation) {
        switch operation {
        case .load(let spec): load(spec)
        case .cancel(let number): held(number)?.cancel()
        case .setPriority(let number, let priority): held(number)?.setPriority(priority)
        case .cancelAll: manager.cancelAll()
        case .forgetFailed(let url): forgetFailed(url)
        case .publish(let url): server.publish(url)
        case .trouble(let url, let trouble): server.setTrouble(url, trouble)
        case .prefetch(let urls, let target, let priority): prefetch(urls, target, priority)
        case .cancelPrefetch(let number): token(number)?.cancel()
        case .setPrefetchPriority(let number, let priority): token(number)?.setPriority(priority)
        case .suspendPrefetch(let isSuspended): prefetcher.isSuspended = isSuspended
        case .prefetchWidth(let width): prefetcher.maxConcurrentPrefetchCount = width
        case .passTime, .refuse, .settle, .drain: break
        default: performOnCache(operation)
        }
    }

    private func performOnCache(_ operation: ModelOperation) {
        switch operation {
        case .remove(let url, let variant, let type):
            cache.removeImage(forKey: ModelKeys.key(url, variant), from: type, completion: expectCall())
        case .removeAndWait(let url, let variant): cache.removeImageFromDisk(forKey: ModelKeys.key(url, variant))
        case .clear(let type): cache.clear(type, completion: expectCall())
        case .memoryWarning: cache.didReceiveMemoryWarning()
        case .limits(let cost, let count, let disk):
            var config = cache.config
            (config.maxMemoryCost, config.maxMemoryCount, config.maxDiskSize) = (cost, count, disk * 100)
            cache.config = config
            callers.withLock { $0.hasNewLimit = true }
        case .trim: cache.removeExpiredData(callbackQueue: .inline) { [call = expectCall()] _ in call() }
        case .store(let url, let variant, let type, let withData):
            let picture = variant.picture(url: url, version: server.newVersion(url))
            let image = try? picture.image()
            var request = ImageStoreRequest(
                key: ModelKeys.key(url, variant),
                image: image,
                data: withData ? picture.data : nil
            )
            (request.cacheType, request.coder) = (type, coder)
            cache.store(request, completion: expectCall())
        case .storeBytes(let url, let isBad, let waits):
            let picture = ModelImage(url: url, version: server.newVersion(url))
            let data = isBad ? ModelImage.badData(url) : picture.data
            let key = ModelKeys.key(url, .original)
            if waits { return cache.storeDataToDisk(data, forKey: key) }
            var request = ImageStoreRequest(key: key, data: data)
            request.cacheType = .disk
            cache.store(request, completion: expectCall())
        case .query(let url, let variant, let options, let cancels): query(url, variant, options, cancels)
        case .contains(let url, let variant, let type):
            cache.containsImage(forKey: ModelKeys.key(url, variant), in: type) { [call = expectCall()] _ in call() }
        default: break
        }
    }

    /// A completion that must be called exactly once.
    private func expectCall() -> @Sendable () -> Void {
        callers.withLock { $0.expectedCalls += 1 }
        return { [callers] in callers.withLock { $0.calls += 1 } }
    }

    private func load(_ spec: ModelOperation.Load) {
        let load = Load(spec)
        callers.withLock { $0.loads.append(load) }
        var context = WebImageContext()
        context.callbackQueue = spec.isDropped ? .global : .inline
        context.imageCoder = coder
        spec.variant.apply(to: &context) {}
        if spec.isLimited { context.scaleDownLimitBytes = ModelImage.byteLimit }
        (context.queryCacheType, context.storeCacheType) = (spec.query, spec.store)
        (context.originalQueryCacheType, context.originalStoreCacheType) = (spec.originalQuery, spec.originalStore)
        let ignore: @Sendable (LoadProgress) -> Void = { _ in }
        let (url, progress) = (ModelKeys.urls[spec.url], spec.hearsProgress ? ignore : nil)
        let end: @Sendable () -> Void = { load.state.withLock { $0.hasEnded = true } }
        // As callers do, where the end is one of the completion.
        let isPublic = spec.url % 2 == 0 && !spec.options.contains(.refreshCached)
        let operation =
            isPublic
            ? manager.loadImage(with: url, options: spec.options, context: context, progress: progress) {
                [self] result in
                end()
                note(result, of: load)
            }
            : manager.loadImage(with: url, options: spec.options, context: context, progress: progress, end: end) {
                [self] result in
                note(result, of: load)
            }
        load.state.withLock { $0.operation = operation }
        if !spec.isDropped { callers.withLock { $0.held.append(operation) } }
    }

    private func note(_ result: Result<WebImageResult, WebImageError>, of load: Load) {
        if case .success(let result) = result {
            check(ModelImage(result.image), load.spec.url, load.spec.variant, allowsLimit: load.spec.isLimited)
            if !result.isFinal { return load.state.withLock { $0.interimCount += 1 } }
        }
        load.state.withLock { $0.finalCount += 1 }
    }

    func check(_ picture: ModelImage, _ url: Int, _ variant: ModelVariant, allowsLimit: Bool) {
        guard picture.url == url, variant.fits(picture, allowsLimit: allowsLimit),
            picture.version <= server.lastVersion(url)
        else { return complain("\(picture) for \(url) \(variant)") }
    }

    private func held(_ number: Int) -> WebImageLoadOperation? {
        callers.withLock { $0.held.isEmpty ? nil : $0.held[max(0, $0.held.count - 1 - number)] }
    }

    private func forgetFailed(_ url: Int?) {
        if let url { manager.removeFailedURL(ModelKeys.urls[url]) } else { manager.removeAllFailedURLs() }
    }

    private func query(_ url: Int, _ variant: ModelVariant, _ options: WebImageOptions, _ cancels: Bool) {
        var context = WebImageContext()
        (context.callbackQueue, context.imageCoder) = (.inline, coder)
        let call = expectCall()
        let key = ModelKeys.key(url, variant)
        let token = cache.queryImage(forKey: key, options: options, context: context) { [self] result in
            call()
            if let image = result.image { check(ModelImage(image), url, variant, allowsLimit: true) }
        }
        callers.withLock { $0.queries.append(ModelQuery(token: token)) }
        if cancels { token.cancel() }
    }

    private func prefetch(_ urls: [Int], _ target: WebImagePrefetcher.Target, _ priority: LoadPriority) {
        let token = prefetcher.prefetch(
            urls.map { ModelKeys.urls[$0] },
            target: target,
            options: [],
            priority: priority
        ) { [callers] progress in callers.withLock { $0.prefetches.append(progress) } }
        callers.withLock { $0.tokens.append(token) }
    }

    private func token(_ number: Int) -> WebImagePrefetchToken? {
        callers.withLock { $0.tokens.isEmpty ? nil : $0.tokens[max(0, $0.tokens.count - 1 - number)] }
    }
}
