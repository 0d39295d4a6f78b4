/// Somebody's wish to hear of a downloader's events. Ends with ``cancel()``, or when it is let go of.
public final class DownloadObservation: Sendable {
    private let mailbox: DownloadMailbox
    private let core: DownloaderCore

    init(_ mailbox: DownloadMailbox, core: DownloaderCore) {
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

/// An observer's events on their way to it.
final class DownloadMailbox: Sendable {
    private let mailbox: CallbackMailbox
    /// Nil when no more is to be delivered.
    private let body: Lock<(@Sendable (DownloadEvent) -> Void)?>

    init(queue: CallbackQueue, body: @escaping @Sendable (DownloadEvent) -> Void) {
        mailbox = CallbackMailbox(queue)
        self.body = Lock(body)
    }

    /// Leaves an event; ``deliver()`` brings it, and is to be called once no lock is held.
    func post(_ event: DownloadEvent) {
        mailbox.append { [self] in body.withLock { $0 }?(event) }
    }

    func deliver() { mailbox.deliver() }

    func close() {
        let former = body.withLock { body in
            defer { body = nil }
            return body
        }
        // The closure may own anything: it is let go of outside the lock.
        withExtendedLifetime(former) {}
    }
}
