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
    /// ``WebImageOptions/queryDiskDataSync`` has no effect here: nothing may block a thread of Swift's concurrency.
    ///
    /// - Throws: ``WebImageError``; ``WebImageError/Code/cancelled`` when the task is cancelled.
    public func result(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> WebImageResult {
        if let hit = memoryResult(url, options, context) { return hit }
        var context = context ?? WebImageContext()
        context.callbackQueue = .inline
        let loading = context
        // Without this a synchronous query would block a cooperative thread, which the caller cannot have meant.
        let options = options.subtracting(.queryDiskDataSync)
        return try await awaitOperation { completion in
            loadImage(with: url, options: options, context: loading, progress: progress, completion: completion)
        }
    }

    /// Loads an image and tells what happens meanwhile: readings of the progress, then the result.
    ///
    /// The load starts with the first call of the iterator's `next()`, and is cancelled when the iterating task is or the
    /// iterator goes. A reader that is slower than the network sees the latest reading only; the result is never lost.
    public func events(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> WebImageEvents {
        WebImageEvents(manager: self, url: url, options: options, context: context)
    }

    private func memoryResult(_ url: URL, _ options: WebImageOptions, _ context: WebImageContext?) -> WebImageResult? {
        guard options.contains(.retryFailed) || !isBlocked(url), let original = originalKey(for: url, context: context)
        else { return nil }
        let key = resultKey(for: original, context: context)
        return memoryImage(forKey: key, of: original, options: options, context: context)
            .map { .fromMemory($0, url: url, key: key) }
    }
}
