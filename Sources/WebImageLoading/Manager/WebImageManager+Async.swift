public import FoundationEssentials

extension WebImageManager {
    /// Loads an image.
    ///
    /// An image in memory is returned without suspending. Cancelling the task cancels the load.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` if the task is cancelled.
    public func image(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Image {
        try await result(with: url, options: options, context: context).image
    }

    /// Loads an image and returns it with its source and details.
    ///
    /// With ``WebImageOptions/refreshCached``, this is the final image: the cached one if the server has no newer one, or if the
    /// refresh failed, which ``WebImageResult/refreshError`` describes.
    ///
    /// ``WebImageOptions/queryDiskDataSync`` and ``WebImageOptions/queryMemoryDataSync`` have no effect here, because they would
    /// block a thread of Swift's concurrency pool.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` if the task is cancelled.
    public func result(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        let load = resolve(url, options, context)
        if let hit = memoryResult(url, load) { return hit }
        let awaited = load.awaited
        return try await awaitResult { completion in
            begin(url, awaited, progress: progress, receiver: .last(completion))
        }
    }

    /// Loads an image and returns its events: progress, then the result. With ``WebImageOptions/refreshCached``, the cached image
    /// comes before.
    ///
    /// The load starts with the first call of the iterator's `next()`. It is cancelled with the iterating task, or when the
    /// iterator is released. A reader slower than the network sees only the latest progress; results are never lost.
    public func events(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> WebImageEvents {
        WebImageEvents(manager: self, url: url, options: options, context: context)
    }

    private func memoryResult(_ url: URL, _ load: ResolvedLoad) -> WebImageResult? {
        // An observed load takes the slow path, which reports every event.
        guard !load.isObserved, load.options.isDisjoint(with: [.refreshCached, .queryMemoryData]),
            cachePolicy(for: load) == .immutable, problem(with: url, load) == nil,
            let original = originalKey(for: url, load)
        else { return nil }
        let key = resultKey(for: original, load)
        guard let image = lookUp(key, of: original, load).hit?.image else { return nil }
        totals.directHits.add()
        return WebImageResult(image: image, cacheType: .memory, url: url, cacheKey: key)
    }
}
