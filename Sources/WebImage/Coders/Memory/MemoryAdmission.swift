/// Who may decode when: decodes under way and decoded pixels that live must fit into so many bytes together.
///
/// A value without threads. What happens goes in, what is to be done comes out. Whoever comes first by priority, then by order, is the
/// next to be let in; nobody overtakes, so that a big picture is not put off for ever by small ones.
struct MemoryAdmission: Sendable {
    /// What becomes of a request.
    enum Verdict: Sendable, Equatable {
        /// Its bytes are reserved until ``end(_:holding:)``.
        case admitted
        /// There is no room for it, but for one of at most so many bytes.
        case smaller(within: Int)
        /// There is no room for it; `allowed` is what there is at most.
        case refused(allowed: Int)
    }

    /// What the driver has to do.
    enum Action: Sendable, Equatable {
        case decide(UInt64, Verdict)
        /// Free so many bytes in caches for a request, and tell by ``evicted(for:)`` that it was tried.
        case evict(Int, for: UInt64)
        /// Tell by ``timeIsOver(for:)`` when ``patience`` has passed.
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
        let mayShrink: Bool
        /// Decided at once, whatever is under way.
        let isUrgent: Bool
        var eviction = Eviction.notTried
        var timer = Timer.none
    }

    /// Ids in the order they came; those that have gone, or are in another lane by now, are passed over.
    private struct Lane {
        private var ids: [UInt64] = []
        private var head = 0

        var first: UInt64? { head < ids.count ? ids[head] : nil }

        mutating func append(_ id: UInt64) { ids.append(id) }

        mutating func removeFirst() {
            head += 1
            guard head > 64, head * 2 > ids.count else { return }
            ids.removeFirst(head)
            head = 0
        }
    }

    /// The bytes there are; 0 lets everybody in.
    var limit: Int
    /// Whether what does not fit may be decoded smaller.
    var shrinks: Bool
    /// Nanoseconds for which a request waits for pixels that others hold, when nothing else is left to wait for.
    var patience: UInt64 = 0

    /// Bytes that are reserved for decodes under way.
    private(set) var inFlight = 0
    /// Bytes of decoded pixels that live.
    private(set) var held = 0
    /// Decodes under way.
    private(set) var runningCount = 0
    /// The most that both came to.
    private(set) var peak = 0
    private var requests: [UInt64: Request] = [:]
    private var lanes = [Lane](repeating: Lane(), count: LoadPriority.allCases.count + 1)
    private var lastID: UInt64 = 0
    private var endCount: UInt64 = 0

    private static let urgentLane = LoadPriority.allCases.count
    /// Less than this is not worth while to be offered.
    private static let leastOffer = 64 << 10

    init(limit: Int, shrinks: Bool) { (self.limit, self.shrinks) = (limit, shrinks) }

    /// Requests that wait.
    var waitingCount: Int { requests.count }
    private var room: Int { limit - inFlight - held }

    // MARK: What happens

    /// Somebody wants to decode.
    ///
    /// - Parameters:
    ///   - need: bytes at the peak of the decode, what it returns included.
    ///   - mayShrink: whether it can be decoded smaller.
    ///   - waits: false to decide now, with what can be evicted.
    ///   - evicts: false to be let in only if there is room already; for what does not wait.
    /// - Returns: its number, and what is to be done; the decision may be among that.
    mutating func ask(
        _ need: Int,
        priority: LoadPriority,
        mayShrink: Bool,
        waits: Bool = true,
        evicts: Bool = true
    ) -> (id: UInt64, actions: [Action]) {
        lastID += 1
        let lane = waits ? priority.rawValue : Self.urgentLane
        var request = Request(need: max(need, 0), lane: lane, mayShrink: mayShrink, isUrgent: !waits)
        if !evicts { request.eviction = .tried(endCount: endCount) }
        requests[lastID] = request
        lanes[lane].append(lastID)
        return (lastID, advance())
    }

    /// Somebody does not want to any more.
    mutating func cancel(_ id: UInt64) -> [Action] { requests.removeValue(forKey: id) == nil ? [] : advance() }

    /// A request becomes more or less urgent. Nothing can follow from it at once: there is no more room than before.
    mutating func setPriority(_ priority: LoadPriority, of id: UInt64) {
        guard let request = requests[id], !request.isUrgent, request.lane != priority.rawValue else { return }
        requests[id]?.lane = priority.rawValue
        lanes[priority.rawValue].append(id)
    }

    /// A decode for which so many bytes were reserved is over; of what it made, `bytes` live on.
    mutating func end(_ reserved: Int, holding bytes: Int) -> [Action] {
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
                    lanes[lane].removeFirst()
                }
            }
            return nil
        }
    }

    private mutating func advance() -> [Action] {
        var actions: [Action] = []
        while let id = head, let request = requests[id] {
            if limit <= 0 || request.need <= room {
                inFlight += request.need
                runningCount += 1
                peak = max(peak, inFlight + held)
                requests[id] = nil
                actions.append(.decide(id, .admitted))
                continue
            }
            if request.need > limit {
                actions.append(refuse(id, request, room: limit))
                continue
            }
            guard let wish = wish(of: id, request) else { return actions }
            if let action = wish.action { actions.append(action) }
            if wish.isOver { actions.append(refuse(id, request, room: room)) } else { return actions }
        }
        return actions
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
        if request.isUrgent { return (nil, true) }
        if runningCount > 0 { return nil }
        guard patience > 0 else { return (nil, true) }
        switch request.timer {
        case .running: return nil
        case .over: return (nil, true)
        case .none:
            requests[id]?.timer = .running
            return (.startTimer(id), false)
        }
    }

    private mutating func refuse(_ id: UInt64, _ request: Request, room: Int) -> Action {
        requests[id] = nil
        guard shrinks, request.mayShrink, room >= Self.leastOffer else {
            return .decide(id, .refused(allowed: max(room, 0)))
        }
        return .decide(id, .smaller(within: room))
    }
}
