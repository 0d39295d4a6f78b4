/// Who may decode when: decodes under way and decoded pixels that live must fit into so many bytes together.
///
/// A value without threads. What happens goes in, what is to be done comes out. Whoever comes first by priority, then by order, is the
/// next to be let in; nobody overtakes, so that a big picture is not put off for ever by small ones. Policies take turns: however many
/// big images one of them brings, the loads of others wait for one of these, not for all. Work that has begun, and holds
/// pixels until it goes on, comes before all that has not. Who cannot wait stands in no row: each is decided by what is freed for it.
package struct MemoryAdmission: Sendable {
    /// What becomes of a request.
    package enum Verdict: Sendable, Equatable {
        /// Its bytes are reserved until ``end(_:holding:)``.
        case admitted
        /// There is no room for it, but for one of at most so many bytes.
        case smaller(within: Int)
        /// There is no room for it; `allowed` is what there is at most.
        case refused(allowed: Int)
    }

    /// What the driver has to do.
    package enum Action: Sendable, Equatable {
        case decide(UInt64, Verdict)
        /// Free so many bytes in caches for a request, and tell by ``evicted(for:)`` that it was tried.
        case evict(Int, for: UInt64)
        /// Tell by ``timeIsOver(for:)`` when ``currentPatience`` has passed.
        case startTimer(UInt64)
    }

    private enum Eviction: Equatable {
        case notTried
        case underWay
        /// After so many decodes had ended: what these have left in caches could go as well.
        case tried(endCount: UInt64)
    }

    private enum Timer { case none, running, over }

    private struct Request {
        let need: Int
        var lane: Int
        let domain: String
        let mayShrink: Bool
        var eviction = Eviction.notTried
        var timer = Timer.none
    }

    /// A row for each policy, which take turns: ids in the order they came. Those that have gone, or are in another lane by now, are passed
    /// over.
    private struct Lane {
        private var rows: [String: FIFOList<UInt64>] = [:]
        /// The policies of which something waits, in the order of their turns.
        private var turns: [String] = []

        var first: UInt64? { turns.first.flatMap { rows[$0]?.first } }

        mutating func append(_ id: UInt64, _ domain: String) {
            if rows[domain] == nil { turns.append(domain) }
            rows[domain, default: FIFOList()].append(id)
        }

        /// - Parameter isTurn: whether the policy has had its turn, so that the next one is another's.
        mutating func removeFirst(isTurn: Bool) {
            guard let domain = turns.first else { return }
            _ = rows[domain]?.popFirst()
            if rows[domain]?.first == nil {
                rows[domain] = nil
                turns.removeFirst()
            } else if isTurn, turns.count > 1 {
                turns.append(turns.removeFirst())
            }
        }
    }

    /// The bytes there are; 0 lets everybody in.
    var limit: Int
    /// Whether what does not fit may be decoded smaller.
    var shrinks: Bool
    /// Nanoseconds for which a request waits for pixels that others hold, when nothing else is left to wait for; while something is being
    /// delivered, a few seconds at the least.
    var patience: UInt64 = 0

    /// Bytes that are reserved for decodes under way.
    private(set) var inFlight = 0
    /// Bytes of decoded pixels that live.
    private(set) var held = 0
    /// Decodes under way.
    private(set) var runningCount = 0
    /// Those of them whose pixels are there, and are being stored and handed to whoever wants them.
    private(set) var deliveringCount = 0
    /// The most that both came to.
    private(set) var peak = 0
    private var requests: [UInt64: Request] = [:]
    /// Those that do not wait, while caches are emptied for them. They must not wait for each other either: whoever empties a cache for one
    /// may be held up by a thread that has just asked for another.
    private var urgent: [UInt64: Request] = [:]
    private var lanes = [Lane](repeating: Lane(), count: LoadPriority.allCases.count + 1)
    private var lastID: UInt64 = 0
    private var endCount: UInt64 = 0

    private static let begunLane = LoadPriority.allCases.count
    /// More do not wait for eviction: a cache that decodes when it is to be emptied would be emptied for that, and so on.
    private static let mostUrgent = 16
    private static let deliveryPatience: UInt64 = 3_000_000_000
    /// Less than this is not worth while to be offered.
    private static let leastOffer = 64 << 10

    init(limit: Int, shrinks: Bool) { (self.limit, self.shrinks) = (limit, shrinks) }

    /// How long is waited now for pixels that others hold, in nanoseconds.
    var currentPatience: UInt64 { deliveringCount > 0 ? max(patience, Self.deliveryPatience) : patience }

    /// Requests that wait, and those that are about to be decided.
    var waitingCount: Int { requests.count + urgent.count }
    private var room: Int { limit - inFlight - held }
    /// What is being freed for those that do not wait.
    private var promised: Int { urgent.values.reduce(0) { $0 + $1.need } }

    // MARK: What happens

    /// Somebody wants to decode.
    ///
    /// - Parameters:
    ///   - need: bytes at the peak of the decode, what it returns included.
    ///   - domain: the policy for whose load it is; empty for the program's own.
    ///   - mayShrink: whether it can be decoded smaller.
    ///   - isBegun: whether it goes on with pixels that it holds, so that it comes first.
    ///   - waits: false to decide now, with what can be evicted.
    ///   - evicts: false to be let in only if there is room already, and nobody waits for it; for what does not wait.
    /// - Returns: its number, and what is to be done; the decision may be among that.
    mutating func ask(
        _ need: Int,
        priority: LoadPriority,
        domain: String = "",
        mayShrink: Bool,
        isBegun: Bool = false,
        waits: Bool = true,
        evicts: Bool = true
    ) -> (id: UInt64, actions: [Action]) {
        lastID += 1
        let lane = isBegun ? Self.begunLane : priority.rawValue
        let request = Request(need: max(need, 0), lane: lane, domain: isBegun ? "" : domain, mayShrink: mayShrink)
        guard waits else { return (lastID, decide(lastID, request, evicts: evicts)) }
        requests[lastID] = request
        lanes[lane].append(lastID, request.domain)
        return (lastID, advance())
    }

    private mutating func decide(_ id: UInt64, _ request: Request, evicts: Bool) -> [Action] {
        let isFree = evicts || requests.isEmpty && urgent.isEmpty
        if limit <= 0 || request.need <= room && isFree { return [admit(id, request)] }
        if request.need > limit { return [verdict(on: id, request, room: limit)] }
        // Who only takes what is left is told of what is left, also when that is for others.
        guard evicts, urgent.count < Self.mostUrgent else { return [verdict(on: id, request, room: room)] }
        urgent[id] = request
        return [.evict(request.need - room, for: id)]
    }

    /// Somebody does not want to any more.
    mutating func cancel(_ id: UInt64) -> [Action] {
        let isKnown = requests.removeValue(forKey: id) != nil || urgent.removeValue(forKey: id) != nil
        return isKnown ? advance() : []
    }

    /// A request becomes more or less urgent. Nothing can follow from it at once: there is no more room than before.
    mutating func setPriority(_ priority: LoadPriority, of id: UInt64) {
        guard let request = requests[id], request.lane != Self.begunLane, request.lane != priority.rawValue else {
            return
        }
        requests[id]?.lane = priority.rawValue
        lanes[priority.rawValue].append(id, request.domain)
    }

    /// A decode has made its pixels: in place of what was reserved, `bytes` live, and `kept` stay reserved for what is made of them. It is
    /// not over before ``end(_:holding:isDelivered:)``: while pixels are on their way to a cache, there is something to wait for.
    mutating func made(_ reserved: Int, keeping kept: Int, holding bytes: Int) -> [Action] {
        deliveringCount += 1
        return keep(kept, of: reserved, holding: bytes)
    }

    /// Of what is reserved `kept` stay so, and `bytes` live for longer than the decode.
    mutating func keep(_ kept: Int, of reserved: Int, holding bytes: Int) -> [Action] {
        inFlight += kept - reserved
        return hold(bytes)
    }

    /// Something is made of what a decode has made, with what is still reserved. Both have to end.
    mutating func goOn() { runningCount += 1 }

    /// A decode for which so many bytes are reserved is over; of what it made, `bytes` live on.
    ///
    /// - Parameter isDelivered: whether ``made(_:keeping:holding:)`` was called for it.
    mutating func end(_ reserved: Int, holding bytes: Int = 0, isDelivered: Bool = false) -> [Action] {
        if isDelivered { deliveringCount -= 1 }
        inFlight -= reserved
        runningCount -= 1
        endCount += 1
        return hold(bytes)
    }

    /// Pixels live that nobody asked for.
    mutating func hold(_ bytes: Int) -> [Action] {
        held += bytes
        peak = max(peak, inFlight + held)
        return advance()
    }

    /// Pixels have gone.
    mutating func release(_ bytes: Int) -> [Action] {
        held -= bytes
        // Whoever evicts goes on with the request it does so for.
        guard let head, requests[head]?.eviction != .underWay else { return [] }
        return advance()
    }

    /// What caches could give for a request has gone, as far as nobody else holds it.
    mutating func evicted(for id: UInt64) -> [Action] {
        if let request = urgent.removeValue(forKey: id) {
            let fits = limit <= 0 || request.need <= room
            let action = fits ? admit(id, request) : verdict(on: id, request, room: min(room, limit))
            return [action] + advance()
        }
        requests[id]?.eviction = .tried(endCount: endCount)
        return advance()
    }

    /// A request has waited as long as it may.
    mutating func timeIsOver(for id: UInt64) -> [Action] {
        requests[id]?.timer = .over
        return advance()
    }

    /// The limit, or what is done with what does not fit, is another.
    mutating func change(_ body: (inout MemoryAdmission) -> Void) -> [Action] {
        body(&self)
        return advance()
    }

    // MARK: What follows

    private var head: UInt64? {
        mutating get {
            for lane in lanes.indices.reversed() {
                while let id = lanes[lane].first {
                    if requests[id]?.lane == lane { return id }
                    lanes[lane].removeFirst(isTurn: false)
                }
            }
            return nil
        }
    }

    private mutating func advance() -> [Action] {
        var actions: [Action] = []
        while let id = head, let request = requests[id] {
            let isOver: Bool
            if limit <= 0 || request.need <= room - promised {
                take(id, request)
                actions.append(admit(id, request))
                continue
            } else if request.need > limit {
                isOver = true
            } else if urgent.isEmpty, let wish = wish(of: id, request) {
                if let action = wish.action { actions.append(action) }
                isOver = wish.isOver
            } else {
                isOver = false
            }
            guard isOver else { return actions }
            take(id, request)
            actions.append(verdict(on: id, request, room: request.need > limit ? limit : room))
        }
        return actions
    }

    /// Takes the first one out.
    private mutating func take(_ id: UInt64, _ request: Request) {
        requests[id] = nil
        lanes[request.lane].removeFirst(isTurn: true)
    }

    /// What the first one needs before it is refused; nil when it waits for what is under way.
    private mutating func wish(of id: UInt64, _ request: Request) -> (action: Action?, isOver: Bool)? {
        switch request.eviction {
        case .underWay: return nil
        case .tried(let count) where count == endCount: break
        case .tried, .notTried:
            requests[id]?.eviction = .underWay
            return (.evict(request.need - room, for: id), false)
        }
        if runningCount > deliveringCount { return nil }
        // Delivering has no end if it is this one that somebody waits for there, so the time is limited.
        guard patience > 0 || deliveringCount > 0 else { return (nil, true) }
        switch request.timer {
        case .running: return nil
        case .over: return (nil, true)
        case .none:
            requests[id]?.timer = .running
            return (.startTimer(id), false)
        }
    }

    private mutating func admit(_ id: UInt64, _ request: Request) -> Action {
        inFlight += request.need
        runningCount += 1
        peak = max(peak, inFlight + held)
        return .decide(id, .admitted)
    }

    /// On one for which there is no room.
    private func verdict(on id: UInt64, _ request: Request, room: Int) -> Action {
        guard shrinks, request.mayShrink, room >= Self.leastOffer else {
            return .decide(id, .refused(allowed: max(room, 0)))
        }
        return .decide(id, .smaller(within: room))
    }
}
