import FoundationEssentials
import TestSupport

@testable import WebImage

extension ModelOperation {
    /// Whether it can be done while a job is held up: not what waits for the end of jobs.
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

    private func performOnCache(_ operation: ModelOperation) {
        switch operation {
        case .remove(let url, let variant, let type):
            model.disturb(url)
            cache.removeImage(forKey: ModelKeys.key(url, variant), from: type, completion: expectCall())
            model.noteRemoved(url, variant, type)
        case .removeAndWait(let url, let variant):
            model.disturb(url)
            cache.removeImageFromDisk(forKey: ModelKeys.key(url, variant))
            model.noteRemoved(url, variant, .disk)
        case .clear(let type):
            for url in 0..<ModelKeys.urlCount { model.disturb(url) }
            cache.clear(type, completion: expectCall())
            for url in 0..<ModelKeys.urlCount {
                for variant in ModelVariant.all { model.noteRemoved(url, variant, type) }
            }
        case .memoryWarning:
            cache.didReceiveMemoryWarning()
            model.noteMemoryShort()
        case .limits(let cost, let count, let disk): setLimits(cost, count, disk)
        case .trim:
            cache.removeExpiredData(callbackQueue: .inline) { [completion = expectCall()] _ in completion() }
        case .store(let url, let variant, let type, let withData): store(url, variant, type, withData)
        case .storeBytes(let url, let isBad, let waits): storeBytes(url, isBad, waits)
        case .query(let url, let variant, let options, let cancels): query(url, variant, options, cancels)
        case .contains(let url, let variant, let type): contains(url, variant, type)
        default: break
        }
    }

    /// A completion that must be called exactly once.
    private func expectCall() -> @Sendable () -> Void {
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
        if spec.isLimited { context.scaleDownLimitBytes = ModelPicture.byteLimit }
        (context.queryCacheType, context.storeCacheType) = (spec.query, spec.store)
        (context.originalQueryCacheType, context.originalStoreCacheType) = (spec.originalQuery, spec.originalStore)
        let hear: @Sendable (LoadProgress) -> Void = { [unowned model] in model.noteProgress($0, of: load) }
        let operation = manager.loadImage(
            with: ModelKeys.urls[spec.url],
            options: spec.options,
            context: context,
            progress: spec.hearsProgress ? hear : nil
        ) { [unowned self] result in
            model.note(result, of: load)
            if mutant == .doubleCompletion, load.number % 8 == 7 { model.note(result, of: load) }
            if mutant == .lateProgress, load.finalCount > 0, spec.hearsProgress {
                hear(LoadProgress(receivedByteCount: 1, expectedByteCount: nil))
            }
            checkWritten(result, load)
            stepper.pause()
        }
        load.trace = operation
        if !spec.isDropped, load.finalCount == 0 { load.operation = operation }
        operation.addEndHandler { [unowned model] in
            model.note(.end, load.number)
            model.end(load)
        }
    }

    /// Whether a URL counts as failed, which must be as the model has it.
    private func isFailed(_ url: Int) -> Bool {
        let isFailed = manager.isFailed(ModelKeys.urls[url])
        if model.mayForget(url), model.held[url].failed == .yes { model.held[url].failed = .perhaps }
        if model.held[url].failed == .yes && !isFailed { model.fail("URL \(url) does not count as failed") }
        if model.held[url].failed == .no && isFailed { model.fail("URL \(url) counts as failed") }
        model.held[url].failed = isFailed ? .yes : .no
        return isFailed
    }

    /// A load that waits for what it stores must find it stored.
    private func checkWritten(_ result: Result<WebImageResult, WebImageError>, _ load: ModelLoad) {
        guard setup.isRoomy, load.spec.options.contains(.waitStoreCache), load.isPlain, !load.isDisturbed,
            !load.spec.isLimited, case .success(let result) = result, result.isFinal, result.cacheType == .none
        else { return }
        let key = ModelKeys.key(load.spec.url, load.spec.variant)
        if disk.content(forKey: key) == nil { model.fail("load \(load.number) ends before it is stored") }
    }

    /// The loads that can still be told something, the youngest first.
    private func held(_ number: Int) -> ModelLoad? {
        let held = loads.filter { $0.operation != nil && $0.finalCount == 0 }
        return held.isEmpty ? nil : held[held.count - 1 - number % held.count]
    }

    private func cancel(_ number: Int) {
        guard let load = held(number), let operation = load.operation else { return }
        let isRunning = operation.isRunning
        if isRunning { load.isCancelled = true }
        operation.cancel()
        if !operation.isFinished { model.fail("load \(load.number) goes on after its cancel") }
        if operation.isCancelled != load.isCancelled { model.fail("load \(load.number) does not know of its cancel") }
        // The completion of an interim result may be under way: then the end follows it.
        let isDelivered = load.finalCount == 1 || stepper.depth > 0
        if isRunning, !isDelivered { model.fail("load \(load.number) is not told at once that it is cancelled") }
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
        for load in running where model.running.contains(where: { $0 === load }) && load.operation != nil {
            model.fail("load \(load.number) goes on after all were cancelled")
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
        guard setup.failedLifetime != nil else { return }
        for url in model.held.indices where model.held[url].failed == .yes { model.held[url].failed = .perhaps }
    }

    // MARK: The cache

    private func setLimits(_ cost: Int, _ count: Int, _ disk: Int) {
        guard !setup.isRoomy else { return }
        var config = cache.config
        (config.maxMemoryCost, config.maxMemoryCount, config.maxDiskSize) = (cost, count, disk)
        cache.config = config
    }

    private func store(_ url: Int, _ variant: ModelVariant, _ type: ImageCacheType, _ withData: Bool) {
        let picture = variant.picture(url: url, version: model.newVersion(url))
        guard let image = try? picture.image() else { return model.fail("no memory") }
        model.noteStored(url, variant, picture.version, type)
        var request = ImageStoreRequest(
            key: ModelKeys.key(url, variant),
            image: image,
            data: withData ? picture.data : nil
        )
        request.cacheType = type
        request.coder = coder
        cache.store(request, completion: expectCall())
        guard withData, type.includesDisk, setup.isRoomy else { return }
        if cache.diskData(forKey: request.key) != picture.data { model.fail("what is stored is not found at once") }
    }

    private func storeBytes(_ url: Int, _ isBad: Bool, _ waits: Bool) {
        let picture = ModelPicture(url: url, version: model.newVersion(url))
        model.held[url].isOnDisk[0] = nil
        if isBad { model.held[url].isBad = true } else { model.noteStored(url, .original, picture.version, .disk) }
        let data = isBad ? ModelPicture.badData(url) : picture.data
        let key = ModelKeys.key(url, .original)
        if waits { return cache.storeDataToDisk(data, forKey: key) }
        var request = ImageStoreRequest(key: key, data: data)
        request.cacheType = .disk
        cache.store(request, completion: expectCall())
    }

    private func query(_ url: Int, _ variant: ModelVariant, _ options: WebImageOptions, _ cancels: Bool) {
        // What lies on disk gets into memory.
        model.held[url].queryCounts[variant.number] += 1
        model.spread(url)
        let completion = expectCall()
        let token = cache.queryImage(
            forKey: ModelKeys.key(url, variant),
            options: options,
            context: context { _ in }
        ) { [unowned self] result in
            completion()
            model.held[url].queryCounts[variant.number] -= 1
            guard let image = result.image else { return }
            let picture = ModelPicture(image)
            model.note(.found, picture.url, picture.version)
            guard picture.url == url, variant.fits(picture, allowsLimit: true) else {
                return model.fail("a query of \(url) \(variant) finds \(picture)")
            }
            if let data = result.data, let stored = ModelPicture(data), stored.url != url {
                model.fail("a query of \(url) finds the bytes of \(stored)")
            }
        }
        if cancels { token.cancel() }
    }

    private func contains(_ url: Int, _ variant: ModelVariant, _ type: ImageCacheType) {
        let completion = expectCall()
        let isThere = model.held[url].isInMemory[variant.number] && type.includesMemory
        let key = ModelKeys.key(url, variant)
        if isThere, cache.memoryImage(forKey: key) == nil { model.fail("\(key) is not in memory") }
        cache.containsImage(forKey: key, in: type) { [unowned model] found in
            completion()
            model.note(.found, url, found.rawValue)
            if found != .none, !type.includesMemory && found == .memory || !type.includesDisk && found == .disk {
                model.fail("found in \(found), looked in \(type)")
            }
        }
    }

    // MARK: Prefetching

    private func prefetch(_ urls: [Int], _ target: WebImagePrefetcher.Target, _ priority: LoadPriority) {
        let list = ModelList(urls)
        lists.append(list)
        for url in Set(urls).sorted() {
            let item = model.begin(ModelOperation.Load(url: url, variant: .original, options: []), isPrefetch: true)
            item.priority = priority
            list.items.append(item)
        }
        list.mayMiss = urls.contains { model.held[$0].failed != .no || model.held[$0].isRefused }
        list.token = prefetcher.prefetch(
            urls.map { ModelKeys.urls[$0] },
            target: target,
            options: [],
            priority: priority
        ) { [unowned self] progress in
            list.completions.append(progress)
            model.note(.prefetched, progress.finishedCount, progress.skippedCount, progress.isCancelled ? 1 : 0)
            for item in list.items { model.end(item) }
        }
    }

    private func list(_ number: Int) -> ModelList? {
        let running = lists.filter { $0.completions.isEmpty }
        return running.isEmpty ? nil : running[running.count - 1 - number % running.count]
    }

    private func cancelPrefetch(_ number: Int) {
        guard let list = list(number), list.token != nil else { return }
        list.isCancelled = true
        list.token?.cancel()
    }

    private func setPrefetchPriority(_ number: Int, _ priority: LoadPriority) {
        guard let list = list(number), list.token != nil else { return }
        for item in list.items { item.priority = priority }
        list.token?.setPriority(priority)
    }
}
