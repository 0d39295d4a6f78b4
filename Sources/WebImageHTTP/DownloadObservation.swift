/// Somebody's wish to hear of a downloader's events. Ends with ``cancel()``, or when it is let go of.
public final class DownloadObservation: Sendable {
    private let mailbox: CallbackMailbox
    private let core: DownloaderCore

    init(_ mailbox: CallbackMailbox, core: DownloaderCore) {
        self.mailbox = mailbox
        self.core = core
    }

    deinit { cancel() }

    /// Ends it. No event is delivered afterwards, except one that is just being delivered on another thread.
    public func cancel() {
        core.removeObserver(mailbox)
        mailbox.close()
    }
}
