/// A subscription to a downloader's events. Ends with ``cancel()``, or when the object is released.
public final class DownloadObservation: Sendable {
    private let mailbox: CallbackMailbox
    private let core: DownloaderCore

    init(_ mailbox: CallbackMailbox, core: DownloaderCore) {
        self.mailbox = mailbox
        self.core = core
    }

    deinit { cancel() }

    /// Ends the subscription. No event is delivered afterwards, except one that is being delivered on another thread at that
    /// moment.
    public func cancel() {
        core.removeObserver(mailbox)
        mailbox.close()
    }
}
