import FoundationEssentials
import LoadingTestSupport
import TestSupport
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

/// A manager, a cache and a prefetcher of the library on stepped queues, with a server, a disk and a clock of the
/// model. One thread does everything, in an order that the history determines.
final class SteppedWorld: @unchecked Sendable {
    // Sendable because only the thread that steps it uses it.
    let history: ModelHistory
    let model: ReferenceModel
    let stepper: Stepper
    let clock = ManualClock()
    let memory: ModelMemory
    let disk: ModelDisk
    let server: ModelServer
    let cache: ImageCache
    let manager: WebImageManager
    let prefetcher: WebImagePrefetcher
    let coder: ModelCoder
    let mutant: ModelMutant?
    private let delegate: ModelDelegate?

    /// All loads, in the order they were started.
    var loads: [ModelLoad] = []
    var lists: [ModelList] = []
    /// Queries of the cache, which nobody holds when they have ended.
    var queries: [ModelQuery] = []
    /// Completions of other calls: how often each has been called.
    var callbackCounts: [Int] = []
    private var nextStep = 0

    var setup: ModelSetup { history.setup }

    init(_ history: ModelHistory, mutant: ModelMutant? = nil) {
        self.history = history
        self.mutant = mutant
        let setup = history.setup
        let (model, clock) = (ReferenceModel(setup), clock.source)
        let stepper = Stepper(setup, seed: history.seed)
        memory = ModelMemory(model, mutant: mutant)
        disk = ModelDisk(model, stepper, clock: clock, mutant: mutant)
        server = ModelServer(setup, model, stepper, mutant: mutant)
        coder = ModelCoder(mutates: mutant == .wrongImage) { [unowned stepper] in stepper.pause() }
        cache = Self.makeCache(setup, memory, disk, stepper, clock)
        let pipeline = Pipeline(
            decodeQueue: stepper.coding,
            undecodedByteLimit: setup.undecodedByteLimit,
            // Events on other threads are not steps.
            progressQueue: .inline
        )
        manager = WebImageManager(cache: cache, loader: server, pipeline: pipeline, clock: clock)
        manager.failedURLLifetime = setup.failedLifetime
        delegate = setup.hasDelegate ? ModelDelegate(model, server) : nil
        manager.delegate = delegate
        prefetcher = WebImagePrefetcher(manager: manager, queue: stepper.prefetch)
        prefetcher.maxConcurrentPrefetchCount = setup.prefetchWidth
        (self.model, self.stepper) = (model, stepper)
        prefetcher.callbackQueue = .inline
        prefetcher.context = context { _ in }
        stepper.server = server.source
        stepper.nextOperation = { [unowned self] in performNext(nested: true) }
    }

    private static func makeCache(
        _ setup: ModelSetup,
        _ memory: ModelMemory,
        _ disk: ModelDisk,
        _ stepper: Stepper,
        _ clock: ClockSource
    ) -> ImageCache {
        var config = ImageCacheConfig()
        config.maxMemoryCost = setup.memoryCost
        config.maxMemoryCount = setup.memoryCount
        config.maxDiskSize = setup.diskSize
        config.maxDiskAge = setup.isRoomy ? .infinity : 3_000
        config.expiryInterval = setup.isRoomy ? 0 : 100
        config.maxConcurrentDiskOperations = setup.diskWidth
        config.maxPendingWriteBytes = setup.maxPendingWriteBytes
        config.writesWithoutOverwriting = setup.keepsExisting
        config.shouldUseWeakMemoryCache = setup.usesWeakCache
        config.makeMemoryCache = { _ in memory }
        config.makeDiskCache = { _, config in
            disk.apply(config)
            return disk
        }
        return ImageCache(
            path: disk.path,
            config: config,
            clock: clock,
            // The history fires the timer.
            delays: DelaySource { _, _ in {} },
            diskQueue: stepper.disk,
            codingQueue: stepper.coding
        )
    }

    func context(_ change: (inout WebImageContext) -> Void) -> WebImageContext {
        var context = WebImageContext()
        context.callbackQueue = .inline
        context.imageCoder = coder
        change(&context)
        return context
    }

    // MARK: Running

    /// Executes the history, lets everything come to its end, and returns the errors.
    @discardableResult
    func run() -> String? {
        while performNext(nested: false) { checkLimits() }
        drain()
        checkEnd()
        return model.failure
    }

    /// Executes the next operation; false when there is none, or when it cannot be done in the middle of something
    /// else.
    private func performNext(nested isNested: Bool) -> Bool {
        guard model.failure == nil, nextStep < history.steps.count else { return false }
        let step = history.steps[nextStep]
        guard !isNested || step.operation.canBeNested else { return false }
        nextStep += 1
        model.noteWords(isNested ? "meanwhile \(step)" : "\(step)")
        if !isNested { stepper.random = SeededGenerator(seed: step.seed) }
        perform(step.operation)
        guard !isNested else { return true }
        for _ in 0..<step.jobCount where !stepper.step() { break }
        return true
    }

    /// Lets the queues run empty, and checks what waits for the server.
    func settle() {
        stepper.drain(withServer: false)
        model.checkQuiet(server.transfers)
        checkStored()
    }

    func drain() {
        prefetcher.isSuspended = false
        settle()
        while model.failure == nil, stepper.step() {
            if stepper.stepCount > 200_000 { return model.fail("it does not come to its end") }
        }
        model.checkQuiet(server.transfers)
    }

    // MARK: Checks

    /// The last stores of callers, when no write is pending any more.
    private func checkStored() {
        guard setup.isRoomy else { return }
        for url in 0..<setup.urlCount {
            for (variant, version) in model.held[url].isOnDisk.enumerated() {
                guard let version else { continue }
                let key = ModelKeys.keys[url][variant]
                let found = disk.content(forKey: key).flatMap { ModelImage($0.data) }
                if found?.version != version { model.fail("\(key) is not on disk as it was stored last") }
            }
        }
    }

    private func checkLimits() {
        let config = cache.config
        if config.maxMemoryCost > 0, memory.totalCost > config.maxMemoryCost {
            model.fail("\(memory.totalCost) bytes in memory, \(config.maxMemoryCost) are allowed")
        }
        if config.maxMemoryCount > 0, memory.count > config.maxMemoryCount { model.fail("too many images in memory") }
        if disk.limit > 0, disk.usage().size > disk.limit { model.fail("too many bytes on disk") }
        if disk.limit != config.maxDiskSize { model.fail("the disk does not have the limit of the configuration") }
    }

    private func checkEnd() {
        guard model.failure == nil else { return }
        checkLimits()
        checkStored()
        for load in loads { load.operation = nil }
        for load in loads { model.checkEnded(load) }
        let pipeline = manager.pipeline
        if pipeline.runningCount > 0 { model.fail("\(pipeline.runningCount) pieces of work still run") }
        if pipeline.waitingCount > 0 { model.fail("\(pipeline.waitingCount) still wait for work") }
        if pipeline.gate.reservedByteCount != 0 { model.fail("the gate still holds bytes back") }
        if manager.isRunning { model.fail("the manager still runs") }
        if !server.isIdle { model.fail("a transfer is not over") }
        if queries.contains(where: { $0.token != nil }) { model.fail("a query still runs") }
        if !cache.writes.withLock({ $0.isIdle && $0.waitingCost == 0 }) { model.fail("the cache still writes") }
        if prefetcher.runningCount + prefetcher.waitingCount > 0 { model.fail("the prefetcher still runs") }
        for load in loads where load.trace != nil { model.fail("load \(load.number) is still held by somebody") }
        for list in lists { list.checkEnd(model) }
        for (number, count) in callbackCounts.enumerated() where count != 1 {
            model.fail("completion \(number) was called \(count) times")
        }
        checkContents()
    }

    /// The contents of the caches in the end.
    private func checkContents() {
        for key in disk.keys {
            guard let place = ModelKeys.place(of: key), let data = disk.content(forKey: key)?.data else { continue }
            guard let picture = ModelImage(data) else {
                if !model.held[place.url].isBad { model.fail("bytes that are not an image were stored under \(key)") }
                continue
            }
            model.noteStore(picture, key, toMemory: false)
        }
        for url in 0..<setup.urlCount {
            for variant in ModelVariant.all {
                let key = ModelKeys.key(url, variant)
                if let image = memory.image(forKey: key) { model.noteStore(ModelImage(image), key, toMemory: true) }
            }
        }
    }
}

/// Refuses downloads where the model says so.
private final class ModelDelegate: WebImageManagerDelegate {
    private let model: ReferenceModel
    private let server: ModelServer

    init(_ model: ReferenceModel, _ server: ModelServer) {
        self.model = model
        self.server = server
    }

    func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool {
        ModelKeys.number(of: url).map { model.mayDownload($0) } ?? true
    }

    func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool {
        server.shouldBlockFailedURL(url, error: error)
    }
}

/// A query of a cache: its token lives as long as a caller waits for it.
struct ModelQuery {
    weak var token: ImageCacheToken?
}
