public import FoundationEssentials

extension WebImageManager {
    /// The original bytes of a URL, from the disk cache if they are there, else from the loader, without decoding them.
    /// Shares a download with loads of the same picture. Bytes that come from the loader are not stored, because nothing
    /// has shown yet that they are a picture. Of the load's ``CachePolicy`` holds what holds of images, but that nothing is asked
    /// behind what is stale: the server is asked first.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` when the task is cancelled,
    ///   ``WebImageError/Code/badImageData`` when a loader made the picture and has no bytes of it.
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
    /// Gets the original bytes.
    func startData() {
        // The server is asked before what is stale is served, as nothing is sent twice here.
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
                operation.end(.failure(WebImageError(.badImageData, "the load brought no data", url: url)))
            case .failure(let error):
                manager.noteMissing(error.with(url: url), plan)
                operation.end(.failure(error.with(url: url)))
            }
        }
    }

    /// Brings the original bytes to disk, if they are not there.
    func startStoring() {
        let plan = plan(nil)
        let original = plan.decode.original
        // Without a key, or where originals may not be stored, there is nothing to be done.
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
        // What strangers send is on disk only once it was decoded; of others the header tells enough.
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
    /// The error of a picture that is to be brought to disk and has no place there.
    static func notStorable(_ url: URL?) -> WebImageError {
        WebImageError(.invalidDownloadOperation, "it has no cache key, or originals are not stored on disk", url: url)
    }
}
