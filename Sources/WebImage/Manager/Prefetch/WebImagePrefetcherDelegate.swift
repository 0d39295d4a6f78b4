public import FoundationEssentials

/// Hears how far a ``WebImagePrefetcher`` is, over all its lists. Called on the callback queue of the list concerned.
public protocol WebImagePrefetcherDelegate: AnyObject, Sendable {
    /// A URL is through, whether it brought a picture or not; before the list's own progress is told.
    ///
    /// - Parameters:
    ///   - prefetcher: who reports.
    ///   - url: the URL that is through.
    ///   - finishedCount: URLs that are through, of all lists under way.
    ///   - totalCount: URLs of all lists under way.
    func prefetcher(_ prefetcher: WebImagePrefetcher, didPrefetch url: URL, finishedCount: Int, totalCount: Int)

    /// The last list under way is through, and was not cancelled; before its own completion is called.
    ///
    /// - Parameters:
    ///   - prefetcher: who reports.
    ///   - totalCount: URLs of that list.
    ///   - skippedCount: those that brought no picture.
    func prefetcher(_ prefetcher: WebImagePrefetcher, didFinishWithTotalCount totalCount: Int, skippedCount: Int)
}

extension WebImagePrefetcherDelegate {
    /// Does nothing.
    public func prefetcher(
        _ prefetcher: WebImagePrefetcher,
        didPrefetch url: URL,
        finishedCount: Int,
        totalCount: Int
    ) {}

    /// Does nothing.
    public func prefetcher(
        _ prefetcher: WebImagePrefetcher,
        didFinishWithTotalCount totalCount: Int,
        skippedCount: Int
    ) {}
}
