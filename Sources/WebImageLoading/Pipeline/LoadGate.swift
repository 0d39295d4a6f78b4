/// Holds back loads while too many downloaded bytes wait to be decoded, so that a fast network and a slow processor do
/// not fill the memory.
///
/// Every load that is let in counts with an estimate until it ends, and then with the bytes it brought until they are
/// decoded. The bound is soft: it can be passed by what the loads already let in bring above the estimate.
package final class LoadGate: Sendable {
    private struct State {
        var reserved = 0
        var waiting = JobHeap<Body>()
    }

    typealias Body = @Sendable (ByteReservation) -> Void

    private let state = Lock(State())
    private let limit: Int
    private let estimate: Int

    /// A gate that is open below `limit` bytes and takes a load to bring `estimate` bytes.
    init(limit: Int, estimate: Int = 256 << 10) {
        self.limit = limit
        self.estimate = estimate
    }

    /// Bytes that have been reserved and not released.
    package var reservedByteCount: Int { state.withLock { $0.reserved } }

    /// Loads that wait to be let in.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Calls `body` as soon as there is room: at once, or on the thread that makes room. Returns a ticket if it waits.
    /// The load counts as running until `body` drops the reservation it is given.
    func pass(priority: LoadPriority, _ body: @escaping Body) -> Ticket? {
        let ticket = state.withLock { state -> Ticket? in
            guard state.reserved >= limit else {
                state.reserved += estimate
                return nil
            }
            return Ticket(id: state.waiting.insert(body, priority: priority), gate: self)
        }
        if ticket == nil { body(ByteReservation(byteCount: estimate, gate: self)) }
        return ticket
    }

    /// Counts bytes until the reservation goes.
    func reserve(_ byteCount: Int) -> ByteReservation {
        state.withLock { $0.reserved += byteCount }
        return ByteReservation(byteCount: byteCount, gate: self)
    }

    fileprivate func release(_ byteCount: Int) {
        let ready = state.withLock { state -> [Body] in
            state.reserved -= byteCount
            var ready: [Body] = []
            while state.reserved < limit, let body = state.waiting.popFirst() {
                state.reserved += estimate
                ready.append(body)
            }
            return ready
        }
        for body in ready { body(ByteReservation(byteCount: estimate, gate: self)) }
    }

    /// A place in the line.
    struct Ticket: RunningWork {
        fileprivate let id: UInt64
        fileprivate let gate: LoadGate

        /// Leaves the line.
        func cancel() {
            let body = gate.state.withLock { $0.waiting.remove(id) }
            withExtendedLifetime(body) {}
        }
        /// Goes in, whatever has been reserved.
        func enter() {
            let estimate = gate.estimate
            let body = gate.state.withLock { state -> Body? in
                guard let body = state.waiting.remove(id) else { return nil }
                state.reserved += estimate
                return body
            }
            body?(ByteReservation(byteCount: estimate, gate: gate))
        }

        /// Moves to another priority.
        func setPriority(_ priority: LoadPriority) { gate.state.withLock { $0.waiting.setPriority(priority, of: id) } }
    }
}

/// Bytes counted against a ``LoadGate`` as long as this object lives.
final class ByteReservation: Sendable {
    private let byteCount: Int
    private let gate: LoadGate

    fileprivate init(byteCount: Int, gate: LoadGate) {
        self.byteCount = byteCount
        self.gate = gate
    }

    deinit { gate.release(byteCount) }
}
