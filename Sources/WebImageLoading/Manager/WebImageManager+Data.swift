public import FoundationEssentials

extension WebImageManager {
    /// Returns the original bytes of a URL without decoding them, from the disk cache or else from the loader. Shares the
    /// download with loads of the same image. Bytes from the loader are not stored, because they have not been verified to be an
    /// image. The load's ``CachePolicy`` applies as for images, except that stale data is revalidated first, never in the
    /// background.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` if the task is cancelled,
    ///   ``WebImageError/Code/badImageData`` if a loader generated the image and has no bytes of it.
    public func data(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Data {
        let load = resolve(url, options, context).awaited
        return try await awaitResult { begin(url, load, as: .data, receiver: .data($0)) }
    }
}

extension ManagedLoad {
    func startData() {
        // Stale data is revalidated before it is delivered, as there is only one delivery here.
        var terms = manager.revalidation(url, load)
        if terms?.asksAlways == true { terms = terms?.policy == .immutable ? nil : terms?.byPolicy }
        if let error = knownMissing(terms) { return operation.end(.failure(error)) }
        let plan = plan(terms, asksDelegate: true)
        let work = plan.decode.original
        operation.subscribe(to: work, priority: load.options.priority, progress: nil) { result in
            manager.totals.noteDisk(result, wasAsked: work.queriesDisk)
            switch result {
            case .success(.data(let original)) where !original.isWithoutBytes:
                if original.loaded != nil { manager.noteFound(missingRequest) }
                operation.end(original.entry.data, from: original.source)
            case .success:
                operation.end(.failure(WebImageError(.badImageData, "the load returned no data", url: url)))
            case .failure(let error):
                manager.noteMissing(error.with(url: url), plan)
                operation.end(.failure(error.with(url: url)))
            }
        }
    }

    /// Stores the original bytes on disk, unless they are there.
    func startStoring() {
        let plan = plan(nil)
        let original = plan.decode.original
        // Without a key, or if originals may not be stored, the load fails.
        guard let originalKey, original.storesDisk else { return operation.end(.failure(.notStorable(url))) }
        guard !load.options.contains(.fromLoaderOnly) else { return store(plan) }
        original.cache.containsImage(forKey: originalKey, in: .disk) { type in
            guard !type.includesDisk else { return operation.end(Data(), from: .disk) }
            operation.observation?.note(.diskMissed(key: originalKey, .absent))
            store(plan)
        }
    }

    private func store(_ plan: LoadPlan) {
        guard operation.isRunning else { return }
        guard load.options.contains(.fromCacheOnly) || manager.mayDownload(url) else {
            return operation.end(.failure(.downloadRefused(url)))
        }
        // Untrusted data is stored only after it was decoded; for trusted sources, parsing the header is enough.
        let work = StoreWork(decode: plan.decode, decodes: !manager.policy.isTrusted)
        operation.subscribe(to: work, priority: load.options.priority, progress: nil) { result in
            var error: WebImageError?
            if case .failure(let failure) = result { error = failure.with(url: url) }
            manager.noteEnd(of: url, options: load.options, loader: plan.loader, error: error)
            if let error { operation.end(.failure(error)) } else { operation.end(Data(), from: .none) }
        }
    }
}

extension WebImageError {
    /// The error of an image that cannot be stored on disk.
    static func notStorable(_ url: URL?) -> WebImageError {
        WebImageError(.invalidDownloadOperation, "it has no cache key, or originals are not stored on disk", url: url)
    }
}
