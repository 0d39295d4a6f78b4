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

/// An observer's events on their way: delivered one at a time, in order, on its queue, without a lock being held.
final class DownloadMailbox: Sendable {
    private struct State {
        var events: [DownloadEvent] = []
        var body: (@Sendable (DownloadEvent) -> Void)?
        var isScheduled = false
    }

    private let queue: CallbackQueue
    private let state: Lock<State>

    init(queue: CallbackQueue, body: @escaping @Sendable (DownloadEvent) -> Void) {
        self.queue = queue
        state = Lock(State(body: body))
    }

    /// Leaves an event. True when the caller must call ``deliver()``, once it holds no lock.
    func post(_ event: DownloadEvent) -> Bool {
        state.withLock { state in
            guard state.body != nil else { return false }
            state.events.append(event)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
    }

    /// Has the queue run through everything that is there by then. One run at a time is under way, so a queue that sometimes
    /// runs things at once cannot change the order.
    func deliver() {
        queue.async { [self] in
            while let (events, body) = take() {
                for event in events {
                    guard isOpen else { break }
                    body(event)
                }
            }
        }
    }

    func close() {
        let former = state.withLock { state -> State in
            defer {
                state.events = []
                state.body = nil
            }
            return state
        }
        // The closure may own anything: it is let go of outside the lock.
        withExtendedLifetime(former) {}
    }

    private var isOpen: Bool { state.withLock { $0.body != nil } }

    private func take() -> (events: [DownloadEvent], body: @Sendable (DownloadEvent) -> Void)? {
        state.withLock { state in
            guard let body = state.body, !state.events.isEmpty else {
                state.isScheduled = false
                return nil
            }
            defer { state.events = [] }
            return (state.events, body)
        }
    }
}
