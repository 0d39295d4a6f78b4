/// Work that is under way, by what it is, and who waits for it: a table without threads.
///
/// Joining, leaving and finishing take O(1) for each who waits, however many do.
struct InFlight<Key: Hashable & Sendable, Waiter: Sendable> {
    /// The place of one who waits; of the first one, also the name of the work.
    struct Ticket: Sendable {
        let key: Key
        fileprivate let flight: UInt64
        fileprivate let seat: UInt64
    }

    private struct Seat {
        let waiter: Waiter
        var priority: LoadPriority
    }

    private struct Flight {
        let id: UInt64
        var seats: [UInt64: Seat] = [:]
        /// Who waits at each priority.
        var counts = [Int](repeating: 0, count: LoadPriority.allCases.count)
        var handle: WorkHandle?
        var stage = Int.min

        /// The highest of those who wait.
        var priority: LoadPriority { LoadPriority(rawValue: counts.lastIndex { $0 > 0 } ?? 0) ?? .low }
    }

    private var flights: [Key: Flight] = [:]
    private var lastID: UInt64 = 0

    /// Pieces of work under way.
    var count: Int { flights.count }

    /// Adds one who waits. The caller has to start the work when it is not under way yet.
    mutating func join(_ key: Key, priority: LoadPriority, waiter: Waiter) -> (ticket: Ticket, starts: Bool) {
        lastID += 1
        let starts = flights[key] == nil
        var flight = flights.removeValue(forKey: key) ?? Flight(id: lastID)
        let before = flight.priority
        flight.seats[lastID] = Seat(waiter: waiter, priority: priority)
        flight.counts[priority.rawValue] += 1
        if !starts, flight.priority != before { flight.handle?.setPriority(flight.priority) }
        let ticket = Ticket(key: key, flight: flight.id, seat: lastID)
        flights[key] = flight
        return (ticket, starts)
    }

    /// Takes one away who does not wait any more.
    ///
    /// - Returns: the work's handle if that was the last one: the work is forgotten, and the caller gives it up. And who
    ///   waited, to be let go of without a lock.
    mutating func leave(_ ticket: Ticket) -> (handle: WorkHandle?, waiter: Waiter?) {
        guard var flight = flight(of: ticket), let seat = flight.seats.removeValue(forKey: ticket.seat) else {
            return (nil, nil)
        }
        let before = flight.priority
        flight.counts[seat.priority.rawValue] -= 1
        guard !flight.seats.isEmpty else {
            flights[ticket.key] = nil
            return (flight.handle, seat.waiter)
        }
        if flight.priority != before { flight.handle?.setPriority(flight.priority) }
        flights[ticket.key] = flight
        return (nil, seat.waiter)
    }

    /// Changes how urgent the work is to one who waits.
    mutating func setPriority(_ priority: LoadPriority, of ticket: Ticket) {
        guard var flight = flight(of: ticket), let seat = flight.seats[ticket.seat] else { return }
        let before = flight.priority
        flight.counts[seat.priority.rawValue] -= 1
        flight.counts[priority.rawValue] += 1
        flight.seats[ticket.seat]?.priority = priority
        if flight.priority != before { flight.handle?.setPriority(flight.priority) }
        flights[ticket.key] = flight
    }

    /// Remembers the work's handle. That of a later stage stays, whichever comes first.
    ///
    /// - Returns: whether the work is still wanted; else the caller gives it up.
    mutating func attach(_ handle: WorkHandle, stage: Int, to ticket: Ticket) -> Bool {
        guard var flight = flight(of: ticket) else { return false }
        guard stage >= flight.stage else { return true }
        flight.handle = handle
        flight.stage = stage
        handle.setPriority(flight.priority)
        flights[ticket.key] = flight
        return true
    }

    /// Whether somebody waits for this work.
    func isWanted(_ ticket: Ticket) -> Bool { flight(of: ticket) != nil }

    /// Ends the work: who comes now has it begun anew. Answers who waited, in the order they came.
    mutating func finish(_ ticket: Ticket) -> [Waiter] {
        guard let flight = flight(of: ticket) else { return [] }
        flights[ticket.key] = nil
        return flight.seats.sorted { $0.key < $1.key }.map(\.value.waiter)
    }

    private func flight(of ticket: Ticket) -> Flight? {
        guard let flight = flights[ticket.key], flight.id == ticket.flight else { return nil }
        return flight
    }
}

/// Something that waits or runs on another thread, to be given up or made more urgent.
struct WorkHandle: Sendable {
    /// Gives it up. Called without a lock.
    let cancel: @Sendable () -> Void
    /// Makes it more or less urgent. Called with a lock held, so that the last change is the last to arrive: must neither
    /// block nor call out.
    let setPriority: @Sendable (LoadPriority) -> Void
}

extension WorkHandle {
    /// A job of a queue.
    init(_ item: WorkItem) { self.init(cancel: { item.cancel() }, setPriority: { item.setPriority($0) }) }
}
