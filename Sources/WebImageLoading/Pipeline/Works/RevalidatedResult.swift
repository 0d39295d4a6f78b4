import FoundationEssentials

/// The part of a ``ResultWork`` for loads with revalidation: requires a ``RevalidationWork``, then finds the cached image or makes the result
/// from newer bytes. A stale image that may be used while the loader is asked is sent first.
struct RevalidatedResult: Sendable {
    let plan: LoadPlan
    let job: WorkJob

    /// The end waits for the stale image that has to be sent first.
    private struct State {
        var isFinding = false
        /// The stale image that was sent.
        var shown: PipelineImage?
        var end: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    init(_ plan: LoadPlan, _ job: WorkJob) { (self.plan, self.job) = (plan, job) }

    func start() {
        guard plan.terms?.asksAlways ?? false else { return revalidate(plan) }
        guard !plan.result.value.isShown else {
            let shown = plan.memoryHit()
            state.withLock { $0.shown = shown }
            return revalidate(plan)
        }
        // The cached image is sent first, whatever its status; a cache miss is loaded as usual.
        find(madeOf: nil) { image in
            guard let image else { return finish(plan.unjudged) }
            guard plan.mayAskLoader else { return job.finish(.success(.image(image))) }
            show(image)
            revalidate(plan.permitted)
        }
    }

    private func revalidate(_ plan: LoadPlan) {
        let original = plan.decode.original
        guard let work = RevalidationWork(plan: original.plan) else { return finish(plan.unjudged) }
        if original.fetch != nil {
            let scope = original.plan.value.sharingScope
            job.hold(job.pipeline.sharedLoads.load(of: original.cacheKey, in: original.cache, scope: scope))
        }
        let stale = WorkValue.Receiver(kinds: .staleStatus) { if case .staleStatus(let status) = $0 { serve(status) } }
        job.require(work, values: stale) { result in
            let end: @Sendable () -> Void = { self.end(result, plan) }
            let isReady = state.withLock { state -> Bool in
                if state.isFinding { state.end = end }
                return !state.isFinding
            }
            if isReady { end() }
        }
    }

    // MARK: Before the end

    /// Sends the stale cached image.
    private func serve(_ status: CacheStatus) {
        state.withLock { $0.isFinding = true }
        find(madeOf: status.contentHash) { image in
            if let image { show(image.with(status)) }
            let end = state.withLock { state in
                state.isFinding = false
                defer { state.end = nil }
                return state.end
            }
            end?()
        }
    }

    private func show(_ image: PipelineImage) {
        state.withLock { $0.shown = image }
        job.send(.stale(image))
    }

    // MARK: The end

    private func end(_ result: WorkResult, _ plan: LoadPlan) {
        switch result {
        case .success(.revalidated(.absent)): lookForDerived(plan)
        case .success(.revalidated(.current(let status))): end(with: status)
        case .success(.revalidated(.newer(let given))):
            job.require(ResultWork(plan: plan.newer(given))) { result in
                job.finish(
                    result.map { output in
                        guard case .image(let image) = output else { return output }
                        return .image(image.with(CacheStatus()))
                    }.mapError { $0.ofRefresh }
                )
            }
        case .success: job.finish(.failure(WebImageError(.badImageData, "there is nothing to show", url: plan.url)))
        case .failure(let error): job.finish(.failure(error))
        }
    }

    /// If the original is not stored, looks for the validators of a derived image.
    private func lookForDerived(_ plan: LoadPlan) {
        guard let terms = plan.terms, terms.derived == nil, let key = plan.cacheKey,
            !plan.isOriginalEntry
        else { return finish(plan.unjudged) }
        let operation = plan.cache.queryValidators(forKey: key, priority: job.priority) { known in
            let image = plan.queriesMemory ? plan.cache.memoryImage(forKey: key) : nil
            guard let derived = DerivedValidators(known, image, of: plan.cache, key) else {
                return finish(plan.unjudged)
            }
            revalidate(plan.judged(by: derived))
        }
        job.hold(operation)
    }

    private func end(with status: CacheStatus) {
        if let shown = state.withLock({ $0.shown }), shown.image.mayBeMade(of: status.contentHash) {
            var image = shown
            image.isUnchanged = true
            if status.isConfirmed { image.status = status }
            return job.finish(.success(.image(image)))
        }
        find(madeOf: status.contentHash) { image in
            if let image {
                job.finish(.success(.image(image.with(status))))
            } else if let error = status.error {
                job.finish(.failure(error.ofRefresh))
            } else {
                finish(plan.decode.original.fetch == nil ? plan.unjudged : plan.fromLoader)
            }
        }
    }

    private func finish(_ plan: LoadPlan) { job.require(ResultWork(plan: plan)) { job.finish($0) } }

    // MARK: The cached image

    /// Finds a cached image made of bytes with this hash; if the cached one is older, makes it again from the original on disk.
    func find(madeOf hash: UInt64?, then: @escaping @Sendable (PipelineImage?) -> Void) {
        job.require(ResultWork(plan: plan.cached)) { result in
            guard case .success(.image(let image)) = result else { return then(nil) }
            guard !image.image.mayBeMade(of: hash) else { return then(image) }
            job.require(ResultWork(plan: plan.renewed)) { result in
                // The entry on disk may be older than the known validators, if a newer one could not be written.
                guard case .success(.image(let image)) = result, image.image.mayBeMade(of: hash) else {
                    return then(nil)
                }
                then(image)
            }
        }
    }
}

extension PipelineImage {
    /// Returns the same image with its cache status.
    func with(_ status: CacheStatus) -> PipelineImage {
        var copy = self
        copy.status = status
        return copy
    }
}

extension Image {
    /// Returns whether the image can be made of bytes with this hash: false if both hashes are known and differ.
    func mayBeMade(of hash: UInt64?) -> Bool {
        guard let hash, hash != 0, metadata.sourceHash != 0 else { return true }
        return metadata.sourceHash == hash
    }
}
