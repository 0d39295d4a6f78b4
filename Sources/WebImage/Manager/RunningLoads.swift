/// A manager's loads under way.
struct RunningLoads: Sendable {
    private var loads: [ObjectIdentifier: (ticket: UInt64, operation: WebImageLoadOperation)] = [:]
    /// Counts the loads that were begun.
    private var lastTicket: UInt64 = 0

    var count: Int { loads.count }

    mutating func insert(_ operation: WebImageLoadOperation) {
        lastTicket += 1
        loads[ObjectIdentifier(operation)] = (lastTicket, operation)
    }

    /// Returns the load if it was there, to be released without the lock.
    mutating func remove(_ operation: WebImageLoadOperation) -> WebImageLoadOperation? {
        loads.removeValue(forKey: ObjectIdentifier(operation))?.operation
    }

    /// Takes all out, the latest first.
    mutating func removeAll() -> [WebImageLoadOperation] {
        defer { loads = [:] }
        return loads.values.sorted { $0.ticket > $1.ticket }.map(\.operation)
    }
}
