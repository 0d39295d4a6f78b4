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
        let mailbox = DownloadMailbox(queue: queue, body: body)
        core.addObserver(mailbox)
        return DownloadObservation(mailbox, core: core)
    }

    /// What it is doing, and what it has done so far.
    public var statistics: DownloadStatistics { core.statistics }
}
