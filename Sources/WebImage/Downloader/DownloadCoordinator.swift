/// Who waits for which transfer: callers that ask for the same thing share one, each leaves alone, and the last one to
/// leave ends it.
///
/// A pure value that its owner guards with one lock, so that attaching and finishing cannot overlap: a transfer takes
/// callers until it is closed, and closing hands out everyone who is attached.
struct DownloadCoordinator<Key: Hashable & Sendable>: Sendable {
    typealias TransferID = UInt64
    typealias TokenID = UInt64

    enum Departure: Equatable {
        /// The caller was not there any more.
        case unknown
        /// Others stay.
        case left(TransferID)
        /// Nobody stays; the transfer is forgotten. It `ran` when it had been started.
        case last(TransferID, ran: Bool)
    }

    private struct Transfer: Sendable {
        var key: Key
        var tokens: [TokenID: LoadPriority] = [:]
        /// Callers of each priority, in place: every download has one of these.
        var counts = SIMD4<Int32>()

        var priority: LoadPriority { counts[2] > 0 ? .high : counts[1] > 0 ? .normal : .low }

        mutating func set(_ priority: LoadPriority?, of token: TokenID) {
            if let old = tokens[token] { counts[old.rawValue] -= 1 }
            if let priority { counts[priority.rawValue] += 1 }
            tokens[token] = priority
        }
    }

    var scheduler: DownloadScheduler
    private var transfers: [TransferID: Transfer] = [:]
    private var open: [Key: TransferID] = [:]
    private var owners: [TokenID: TransferID] = [:]
    private var parked: Set<TransferID> = []
    private var nextID: UInt64 = 0

    init(maximumRunning: Int) { scheduler = DownloadScheduler(maximumRunning: maximumRunning) }

    /// Transfers that run, wait or are parked.
    var transferCount: Int { transfers.count }
    /// Transfers that are neither running nor waiting, and will wait again.
    var parkedCount: Int { parked.count }
    /// Callers attached to them.
    var tokenCount: Int { owners.count }

    /// Attaches a new caller: to the open transfer with that key, or to a new one that waits to be started.
    mutating func subscribe(
        key: Key,
        priority: LoadPriority
    ) -> (token: TokenID, transfer: TransferID, isNew: Bool) {
        nextID += 1
        let token = nextID
        if let id = open[key] {
            owners[token] = id
            transfers[id]?.set(priority, of: token)
            updatePriority(of: id)
            return (token, id, false)
        }
        nextID += 1
        var transfer = Transfer(key: key)
        transfer.set(priority, of: token)
        transfers[nextID] = transfer
        open[key] = nextID
        owners[token] = nextID
        scheduler.enqueue(nextID, priority: priority)
        return (token, nextID, true)
    }

    /// A caller leaves.
    mutating func cancel(_ token: TokenID) -> Departure {
        guard let id = owners.removeValue(forKey: token) else { return .unknown }
        transfers[id]?.set(nil, of: token)
        guard transfers[id]?.tokens.isEmpty ?? true else {
            updatePriority(of: id)
            return .left(id)
        }
        return .last(id, ran: forget(id))
    }

    /// A caller's need becomes more or less urgent.
    mutating func setPriority(_ priority: LoadPriority, of token: TokenID) {
        guard let id = owners[token] else { return }
        transfers[id]?.set(priority, of: token)
        updatePriority(of: id)
    }

    /// Gives up the place of a transfer that runs; callers still join and leave it until it is closed.
    mutating func release(_ id: TransferID) { scheduler.remove(id) }

    /// Puts a transfer aside that runs or waits: it takes no place and is not started, but callers join and leave it as before.
    mutating func park(_ id: TransferID) {
        guard transfers[id] != nil else { return }
        scheduler.remove(id)
        parked.insert(id)
    }

    /// Lets a parked transfer wait for its turn again, with the priority that it has by now.
    mutating func wake(_ id: TransferID) {
        guard parked.remove(id) != nil, let transfer = transfers[id] else { return }
        scheduler.enqueue(id, priority: transfer.priority)
    }

    /// Ends a transfer: nobody can join it any more. The callers that were attached, in the order they came.
    mutating func close(_ id: TransferID) -> [TokenID] {
        guard let transfer = transfers[id] else { return [] }
        _ = forget(id)
        let tokens = transfer.tokens.keys.sorted()
        for token in tokens { owners[token] = nil }
        return tokens
    }

    /// Everyone leaves and every transfer ends. The callers in the order they came.
    mutating func closeAll() -> (tokens: [TokenID], transfers: [TransferID]) {
        let result = (owners.keys.sorted(), transfers.keys.sorted())
        scheduler.removeAll()
        transfers = [:]
        open = [:]
        owners = [:]
        parked = []
        return result
    }

    private mutating func updatePriority(of id: TransferID) {
        guard let transfer = transfers[id] else { return }
        scheduler.setPriority(transfer.priority, of: id)
    }

    private mutating func forget(_ id: TransferID) -> Bool {
        guard let transfer = transfers.removeValue(forKey: id) else { return false }
        if open[transfer.key] == id { open[transfer.key] = nil }
        if !parked.isEmpty { parked.remove(id) }
        return scheduler.remove(id)
    }
}
