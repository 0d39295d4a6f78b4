/// Keeps the received parts of bodies whose downloads broke off.
package protocol PartialBodyStore: AnyObject, Sendable {
    /// Looks for a part of what `request` asks for.
    ///
    /// - Parameters:
    ///   - limit: most bytes of it.
    ///   - completion: called on the store's queue with what there is; not called when the answer is false.
    /// - Returns: false when there is nothing, which is known at once.
    func find(
        _ request: DownloadRequest,
        limit: Int,
        completion: @escaping @Sendable (PartialDownload?) -> Void
    ) -> Bool
    /// Stores a part in place of what there was. If more comes before it is written, only that is.
    ///
    /// - Parameter completion: called on the store's queue when it is on disk, or will never be.
    func save(_ part: PartialDownload, completion: (@Sendable () -> Void)?)
    /// Removes a part.
    func remove(_ key: PartialKey)
    /// Removes all parts.
    ///
    /// - Parameter completion: called on the store's queue.
    func removeAll(completion: (@Sendable () -> Void)?)
}

/// Returns the store that a downloader's config asks for, if any; the present one, if there is one, stays if its directory does.
package typealias PartialBodyStoreMaker =
    @Sendable (WebImageDownloaderConfig, (any PartialBodyStore)?, ClockSource) -> (any PartialBodyStore)?
