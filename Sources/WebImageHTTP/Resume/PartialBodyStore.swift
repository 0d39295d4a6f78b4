/// A store for the received parts of interrupted downloads.
package protocol PartialBodyStore: AnyObject, Sendable {
    /// Looks up a part for `request`.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes of the part.
    ///   - completion: called on the store's queue with the part, if any; not called if the method returns false.
    /// - Returns: false if it is known at once that there is no part.
    func find(
        _ request: DownloadRequest,
        limit: Int,
        completion: @escaping @Sendable (PartialDownload?) -> Void
    ) -> Bool
    /// Stores a part and replaces the previous one. If newer parts are saved before it is written, only the newest is written.
    ///
    /// - Parameter completion: called on the store's queue when the part is on disk, or will never be.
    func save(_ part: PartialDownload, completion: (@Sendable () -> Void)?)
    /// Removes a part.
    func remove(_ key: PartialKey)
    /// Removes all parts.
    ///
    /// - Parameter completion: called on the store's queue.
    func removeAll(completion: (@Sendable () -> Void)?)
}

/// Returns the store for a downloader's config, if any. An existing store is reused if its directory is unchanged.
package typealias PartialBodyStoreMaker =
    @Sendable (WebImageDownloaderConfig, (any PartialBodyStore)?, ClockSource) -> (any PartialBodyStore)?
