import FoundationEssentials

extension WebImageManager {
    /// Begins a load with ``WebImageOptions/refreshCached``: delivers what is cached, asks the server with the entry's validators
    /// whether there is something newer, and delivers that as a second result.
    ///
    /// For now the same as a load without the option.
    func startRefreshing(
        _ operation: WebImageLoadOperation,
        url: URL,
        options: WebImageOptions,
        context: WebImageContext?,
        progress: (@Sendable (LoadProgress) -> Void)?
    ) {
        start(operation, url: url, options: options, context: context, progress: progress)
    }
}
