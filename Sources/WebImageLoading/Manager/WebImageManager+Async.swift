public import FoundationEssentials

extension WebImageManager {
    /// Loads an image.
    ///
    /// What lies in memory is returned without a suspension. Cancelling the task cancels the load.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` when the task is cancelled.
    public func image(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async throws(WebImageError) -> Image {
        try await result(with: url, options: options, context: context).image
    }

    /// Loads an image and says where it came from.
    ///
    /// With ``WebImageOptions/refreshCached`` this is the last picture: the one that was cached if the server has nothing newer
    /// or could not be asked, which ``WebImageResult/refreshError`` tells.
    ///
    /// ``WebImageOptions/queryDiskDataSync`` and ``WebImageOptions/queryMemoryDataSync`` have no effect here: nothing may block
    /// a thread of Swift's concurrency.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` when the task is cancelled.
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

    /// Loads an image and tells what happens meanwhile: readings of the progress, then the result; with
    /// ``WebImageOptions/refreshCached`` also the one that was cached, before.
    ///
    /// The load starts with the first call of the iterator's `next()`, and is cancelled when the iterating task is or the
    /// iterator goes. A reader that is slower than the network sees the latest reading only; results are never lost.
    public func events(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> WebImageEvents {
        WebImageEvents(manager: self, url: url, options: options, context: context)
    }

    private func memoryResult(_ url: URL, _ load: ResolvedLoad) -> WebImageResult? {
        // An observed load takes the long way, on which everything is told.
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
