/// Back-pressure from decoding to loading: a limiter that delays loads while too many downloaded bytes wait to be decoded, so
/// that a fast network and a slow processor do not fill the memory.
///
/// Each admitted load reserves an estimate until it ends, and then its actual bytes until they are decoded. The limit is soft:
/// admitted loads that exceed the estimate can exceed it.
package final class BackPressureLimiter: Sendable {
    private struct State {
        var reserved = 0
        var waiting = JobHeap<Body>()
    }

    typealias Body = @Sendable (ByteReservation) -> Void

    private let state = Lock(State())
    private let limit: Int
    private let estimate: Int

    /// Creates a limiter that is open below `limit` bytes and estimates `estimate` bytes per load.
    init(limit: Int, estimate: Int = 256 << 10) {
        self.limit = limit
        self.estimate = estimate
    }

    /// The bytes currently reserved.
    package var reservedByteCount: Int { state.withLock { $0.reserved } }

    /// The number of loads waiting to be admitted.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Calls `body` as soon as the load is admitted: at once, or on the thread that releases a reservation. Returns a ticket if
    /// it waits. The load counts as running until `body` releases its reservation.
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

    /// Reserves bytes until the reservation is released.
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

    /// A position in the queue.
    struct Ticket: RunningWork {
        fileprivate let id: UInt64
        fileprivate let gate: BackPressureLimiter

        /// Removes the load from the queue.
        func cancel() {
            let body = gate.state.withLock { $0.waiting.remove(id) }
            withExtendedLifetime(body) {}
        }
        /// Admits the load regardless of the limit.
        func enter() {
            let estimate = gate.estimate
            let body = gate.state.withLock { state -> Body? in
                guard let body = state.waiting.remove(id) else { return nil }
                state.reserved += estimate
                return body
            }
            body?(ByteReservation(byteCount: estimate, gate: gate))
        }

        /// Changes the priority in the queue.
        func setPriority(_ priority: LoadPriority) { gate.state.withLock { $0.waiting.setPriority(priority, of: id) } }
    }
}

/// A reservation of bytes in a ``BackPressureLimiter``, released with this object.
final class ByteReservation: Sendable {
    private let byteCount: Int
    private let gate: BackPressureLimiter

    fileprivate init(byteCount: Int, gate: BackPressureLimiter) {
        self.byteCount = byteCount
        self.gate = gate
    }

    deinit { gate.release(byteCount) }
}
