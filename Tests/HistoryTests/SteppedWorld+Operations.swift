import FoundationEssentials
import LoadingTestSupport
import TestSupport
import WebImage

@testable import WebImageCache
@testable import WebImageLoading

extension ModelOperation {
    /// A Boolean value that indicates whether it can be done while a job is interrupted: not for operations that wait
    /// for the end of jobs.
    var canBeNested: Bool {
        switch self {
        case .removeAndWait, .settle, .drain: false
        case .storeBytes(_, _, let waits): !waits
        default: true
        }
    }
}

extension SteppedWorld {
    func perform(_ operation: ModelOperation) {
        switch operation {
        case .load(let spec): load(spec)
        case .cancel(let number): cancel(number)
        case .setPriority(let number, let priority): setPriority(number, priority)
        case .cancelAll: cancelAll()
        case .forgetFailed(let url): forgetFailed(url)
        case .publish(let url): server.publish(url, version: model.newVersion(url))
        case .trouble(let url, let trouble): server.setTrouble(url, trouble)
        case .refuse(let url, let isRefused): model.held[url].isRefused = isRefused && setup.hasDelegate
        case .passTime(let seconds): passTime(seconds)
        case .settle: settle()
        case .drain: drain()
        case .prefetch(let urls, let target, let priority): prefetch(urls, target, priority)
        case .cancelPrefetch(let number): cancelPrefetch(number)
        case .setPrefetchPriority(let number, let priority): setPrefetchPriority(number, priority)
        case .suspendPrefetch(let isSuspended): prefetcher.isSuspended = isSuspended
        case .prefetchWidth(let width): prefetcher.maxConcurrentPrefetchCount = width
        default: performOnCache(operation)
        }
    }

    /// A completion that must be called exactly once.
    func expectCall() -> @Sendable () -> Void {
        let number = callbackCounts.count
        callbackCounts.append(0)
        return { [unowned self] in
            callbackCounts[number] += 1
            model.note(.callback, number)
        }
    }

    // MARK: Loads

    private func load(_ spec: ModelOperation.Load) {
        let load = model.begin(spec)
        loads.append(load)
        load.isBlocked = isFailed(spec.url) && !spec.options.contains(.retryFailed)
        var context = context { spec.variant.apply(to: &$0) { [unowned stepper] in stepper.pause() } }
        if spec.isLimited { context.scaleDownLimitBytes = ModelImage.byteLimit }
        (context.queryCacheType, context.storeCacheType) = (spec.query, spec.store)
        (context.originalQueryCacheType, context.originalStoreCacheType) = (spec.originalQuery, spec.originalStore)
        let hear: @Sendable (LoadProgress) -> Void = { [unowned model] in model.noteProgress($0, of: load) }
        let (url, progress) = (ModelKeys.urls[spec.url], spec.hearsProgress ? hear : nil)
        let completion: @Sendable (Result<WebImageResult, WebImageError>) -> Void = { [unowned self] result in
            model.note(result, of: load)
            if mutant == .doubleCompletion, load.number % 3 == 2 { model.note(result, of: load) }
            if mutant == .lateProgress, load.finalCount > 0, spec.hearsProgress {
                hear(LoadProgress(receivedByteCount: 1, expectedByteCount: nil))
            }
            checkWritten(result, load)
            stepper.pause()
        }
        let end: @Sendable () -> Void = { [unowned model] in
            model.note(.end, load.number)
            model.end(load)
        }
        let operation =
            load.isPublic
            ? manager.loadImage(
                with: url,
                options: spec.options,
                context: context,
                progress: progress,
                completion: completion
            )
            : manager.loadImage(
                with: url,
                options: spec.options,
                context: context,
                progress: progress,
                end: end,
                completion: completion
            )
        load.trace = operation
        if !spec.isDropped, load.finalCount == 0 { load.operation = operation }
    }

    /// Returns whether a URL counts as failed, which must match the model.
    private func isFailed(_ url: Int) -> Bool {
        let isFailed = manager.isFailed(ModelKeys.urls[url])
        if model.mayForget(url), model.held[url].failed == .yes { model.held[url].failed = .perhaps }
        if model.held[url].failed == .yes && !isFailed { model.fail("URL \(url) does not count as failed") }
        if model.held[url].failed == .no && isFailed { model.fail("URL \(url) counts as failed") }
        model.held[url].failed = isFailed ? .yes : .no
        return isFailed
    }

    /// A load that waits for its stores must find the image stored.
    private func checkWritten(_ result: Result<WebImageResult, WebImageError>, _ load: ModelLoad) {
        guard setup.isRoomy, load.spec.options.contains(.waitStoreCache), load.isPlain, !load.isDisturbed,
            !load.spec.isLimited, case .success(let result) = result, result.isFinal, result.cacheType == .none
        else { return }
        let key = ModelKeys.key(load.spec.url, load.spec.variant)
        if disk.content(forKey: key) == nil { model.fail("load \(load.number) ends before it is stored") }
    }

    /// The loads that may still get calls, the youngest first.
    private func held(_ number: Int) -> ModelLoad? {
        let held = loads.filter { $0.operation != nil && $0.finalCount == 0 }
        return held.isEmpty ? nil : held[held.count - 1 - number % held.count]
    }

    private func cancel(_ number: Int) {
        guard let load = held(number), let operation = load.operation else { return }
        let isRunning = operation.isRunning
        if isRunning { load.isCancelled = true }
        operation.cancel()
        if !operation.isFinished { model.fail("load \(load.number) continues after its cancellation") }
        let isUncertain = load.mayBeCancelled
        if !isUncertain, operation.isCancelled != load.isCancelled {
            model.fail("load \(load.number) does not know of its cancel")
        }
        // The completion of an interim result may be running: then the end follows it.
        let isDelivered = load.finalCount == 1 || stepper.depth > 0
        if isRunning, !isDelivered { model.fail("load \(load.number) is not notified at once of its cancellation") }
    }

    private func setPriority(_ number: Int, _ priority: LoadPriority) {
        guard let load = held(number), let operation = load.operation else { return }
        load.priority = priority
        operation.setPriority(priority)
    }

    private func cancelAll() {
        let running = model.running.filter { !$0.isPrefetch && !$0.isBlocked }
        for load in running { load.mayBeCancelled = true }
        for list in lists where list.completions.isEmpty { list.mayMiss = true }
        manager.cancelAll()
        for load in running where load.operation?.isFinished == false {
            model.fail("load \(load.number) continues after all were cancelled")
        }
    }

    private func forgetFailed(_ url: Int?) {
        if let url {
            manager.removeFailedURL(ModelKeys.urls[url])
            model.held[url].failed = .no
        } else {
            manager.removeAllFailedURLs()
            for url in model.held.indices { model.held[url].failed = .no }
        }
    }

    private func passTime(_ seconds: Double) {
        clock.advance(seconds)
        cache.upkeep.timerFired()
        guard setup.failedLifetime != nil else { return }
        for url in model.held.indices where model.held[url].failed == .yes { model.held[url].failed = .perhaps }
    }
}
