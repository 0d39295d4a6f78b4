extension WebImageDownloader {
    /// Reports everything that happens to this downloader's downloads, from now on.
    ///
    /// - Parameters:
    ///   - queue: where `body` runs. The main thread by default.
    ///   - body: called for one event at a time, in order. With ``CallbackQueue/inline`` on the thread that caused the event, which
    ///     may be the network thread: it must be quick then.
    /// - Returns: the observation, which ends when it is cancelled or let go of.
    ///
    /// Costs nothing while nobody observes.
    public func observe(
        on queue: CallbackQueue = .main,
        _ body: @escaping @Sendable (DownloadEvent) -> Void
    ) -> DownloadObservation {
        let mailbox = CallbackMailbox(queue)
        core.addObserver(mailbox, body)
        return DownloadObservation(mailbox, core: core)
    }

    /// What it is doing, and what it has done so far.
    public var statistics: DownloadStatistics { core.statistics }

    /// How fast bytes arrive at present, in bytes per second: over all transfers of this downloader together, averaged over the time in
    /// which something was under way, so that it does not fall while nothing is wanted. What is five seconds of such time old counts
    /// half.
    ///
    /// Nil until 64 KiB have come and something was under way for a quarter of a second. A figure of what pictures take in the end, with
    /// the servers' share of the waiting in it, and not of what the line could carry. Costs next to nothing.
    public var estimatedBytesPerSecond: Double? { core.bytesPerSecond }
}
