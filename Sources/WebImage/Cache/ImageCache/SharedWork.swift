/// Work that all who ask for the same at the same time share: it is done once, and each gets its result.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Waiter = @Sendable (Value) -> Void

    private let table = Lock(InFlight<Key, Waiter>())

    /// One piece of work, for who does it.
    struct Flight: Sendable {
        fileprivate let shared: SharedWork
        fileprivate let ticket: InFlight<Key, Waiter>.Ticket

        /// Whether somebody still waits for it. Asked before each part of the work.
        var isWanted: Bool { shared.table.withLock { $0.isWanted(ticket) } }

        /// Says what the work waits for, in later stages something else. It is given up at once when nobody waits.
        func attach(_ handle: WorkHandle, stage: Int) {
            let isWanted = shared.table.withLock { $0.attach(handle, stage: stage, to: ticket) }
            if !isWanted { handle.cancel() }
        }

        /// Delivers to all who wait, on the calling thread.
        func finish(_ value: Value) {
            let waiters = shared.table.withLock { $0.finish(ticket) }
            for waiter in waiters { waiter(value) }
        }
    }

    /// Waits for a piece of work, which is started if nobody does so yet.
    ///
    /// - Parameters:
    ///   - start: begins the work, on the calling thread; must not do it there.
    ///   - waiter: called with the result, at most once; not after the handle's cancel has returned, unless it was under way.
    func join(
        _ key: Key,
        priority: LoadPriority,
        start: (Flight) -> Void,
        waiter: @escaping Waiter
    ) -> WorkHandle {
        let (ticket, starts) = table.withLock { $0.join(key, priority: priority, waiter: waiter) }
        if starts { start(Flight(shared: self, ticket: ticket)) }
        return WorkHandle(
            cancel: { [self] in table.withLock { $0.leave(ticket) }.handle?.cancel() },
            setPriority: { [self] priority in table.withLock { $0.setPriority(priority, of: ticket) } }
        )
    }

    /// Pieces of work under way.
    var count: Int { table.withLock { $0.count } }
}
