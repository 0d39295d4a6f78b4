/// Admission control for decodes: running decodes and live decoded pixels must fit into a byte limit together.
///
/// A value without threads: events go in, actions come out. The first request by priority, then by order, is admitted next; none is
/// overtaken, so that small images do not starve a big one. Policies take turns (round robin): however many big images one of them
/// brings, the loads of others wait for one of these, not for all. Work that has begun, and holds pixels until it continues, goes
/// before all work that has not. Requests that cannot wait are not queued: each is decided by what is freed for it.
struct MemoryAdmission: Sendable {
    /// The decision on a request.
    enum Verdict: Sendable, Equatable {
        /// Its bytes are reserved until ``end(_:holding:)``.
        case admitted
        /// There is no room for it, but for one of at most that many bytes.
        case smaller(within: Int)
        /// There is no room for it; `allowed` is the available maximum.
        case refused(allowed: Int)
    }

    /// The actions that the driver has to perform.
    enum Action: Sendable, Equatable {
        case decide(UInt64, Verdict)
        /// Free that many bytes in caches for a request, and report the attempt with ``evicted(for:)``.
        case evict(Int, for: UInt64)
        /// Call ``timeIsOver(for:)`` when ``currentPatience`` has passed.
        case startTimer(UInt64)
    }

    private enum Eviction: Equatable {
        case notTried
        case underWay
        /// Tried after that many decodes had ended: more could be evicted after later ones.
        case tried(endCount: UInt64)
    }

    private enum Timer { case none, running, over }

    private struct Request {
        let need: Int
        let domain: String
        let isBegun: Bool
        let mayShrink: Bool
        /// Its number in the queue.
        var place: UInt64 = 0
        var eviction = Eviction.notTried
        var timer = Timer.none
    }

    /// The byte limit; 0 admits every request.
    var limit: Int
    /// Indicates whether a decode that does not fit may be made smaller.
    var shrinks: Bool
    /// The time in nanoseconds that a request waits for pixels that others hold, when nothing else is left to wait for; while
    /// something is being delivered, at least a few seconds.
    var patience: UInt64 = 0

    /// The number of bytes reserved for running decodes.
    private(set) var inFlight = 0
    /// The number of bytes of live decoded pixels.
    private(set) var held = 0
    /// The number of running decodes.
    private(set) var runningCount = 0
    /// The number of those whose pixels are complete and are being stored and delivered.
    private(set) var deliveringCount = 0
    /// The maximum that both together have reached.
    private(set) var peak = 0
    private var requests: [UInt64: Request] = [:]
    /// The requests that do not wait, while caches are evicted for them. They must not wait for each other either: the thread that
    /// evicts for one may be blocked by a thread that has just made another.
    private var urgent: [UInt64: Request] = [:]
    /// The requests of work that has begun.
    private var begun = JobHeap<UInt64>()
    /// The other requests, by policy.
    private var queues: [String: JobHeap<UInt64>] = [:]
    /// The policies that have waiting requests, in the order of their turns.
    private var turns: [String] = []
    private var lastID: UInt64 = 0
    private var endCount: UInt64 = 0

    /// The maximum number of requests that evict at once: a cache that decodes during eviction would be evicted for that, and so
    /// on.
    private static let mostUrgent = 16
    private static let deliveryPatience: UInt64 = 3_000_000_000
    /// The smallest size that is worth offering.
    private static let leastOffer = 64 << 10

    init(limit: Int, shrinks: Bool) { (self.limit, self.shrinks) = (limit, shrinks) }

    /// The time that a request waits now for pixels that others hold, in nanoseconds.
    var currentPatience: UInt64 { deliveringCount > 0 ? max(patience, Self.deliveryPatience) : patience }

    /// The number of requests that wait or are about to be decided.
    var waitingCount: Int { requests.count + urgent.count }
    private var room: Int { limit - inFlight - held }
    /// The number of bytes that are being freed for requests that do not wait.
    private var promised: Int { urgent.values.reduce(0) { $0 + $1.need } }

    // MARK: What happens

    /// Adds a request to decode.
    ///
    /// - Parameters:
    ///   - need: the number of bytes at the peak of the decode, including its result.
    ///   - domain: the source policy of the load; empty for the program's own loads.
    ///   - mayShrink: whether it can be decoded smaller.
    ///   - isBegun: whether it continues with pixels that it holds, so that it goes first.
    ///   - waits: false to decide now, with what can be evicted.
    ///   - evicts: false to be admitted only if there is room already that no request waits for; for requests that do not wait.
    /// - Returns: its number, and the actions to perform; the decision may be among them.
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
        var request = Request(need: max(need, 0), domain: domain, isBegun: isBegun, mayShrink: mayShrink)
        guard waits else { return (lastID, decide(lastID, request, evicts: evicts)) }
        if isBegun {
            request.place = begun.insert(lastID, priority: .normal)
        } else {
            if queues[domain] == nil { turns.append(domain) }
            request.place = queues[domain, default: JobHeap()].insert(lastID, priority: priority)
        }
        requests[lastID] = request
        return (lastID, advance())
    }

    private mutating func decide(_ id: UInt64, _ request: Request, evicts: Bool) -> [Action] {
        let isFree = evicts || requests.isEmpty && urgent.isEmpty
        if limit <= 0 || request.need <= room && isFree { return [admit(id, request)] }
        if request.need > limit { return [verdict(on: id, request, room: limit)] }
        // Without eviction, the verdict names the remaining room, even if it is for other requests.
        guard evicts, urgent.count < Self.mostUrgent else { return [verdict(on: id, request, room: room)] }
        urgent[id] = request
        return [.evict(request.need - room, for: id)]
    }

    /// Cancels a request.
    mutating func cancel(_ id: UInt64) -> [Action] {
        if let request = requests[id] {
            remove(id, request)
        } else if urgent.removeValue(forKey: id) == nil {
            return []
        }
        return advance()
    }

    /// Changes the priority of a request. No action can follow at once: there is no more room than before.
    mutating func setPriority(_ priority: LoadPriority, of id: UInt64) {
        guard let request = requests[id], !request.isBegun else { return }
        queues[request.domain]?.setPriority(priority, of: request.place)
    }

    /// Reports that a decode has made its pixels: in place of the reservation, `bytes` live, and `kept` stay reserved for what is
    /// made from them. It is not over before ``end(_:holding:isDelivered:)``: while pixels are on their way to a cache, other
    /// requests can wait for it.
    mutating func made(_ reserved: Int, keeping kept: Int, holding bytes: Int) -> [Action] {
        deliveringCount += 1
        return keep(kept, of: reserved, holding: bytes)
    }

    /// Keeps `kept` bytes of a reservation, and counts `bytes` that outlive the decode.
    mutating func keep(_ kept: Int, of reserved: Int, holding bytes: Int) -> [Action] {
        inFlight += kept - reserved
        return hold(bytes)
    }

    /// Counts a job that continues with the result of a decode and the rest of its reservation. Both have to end.
    mutating func goOn() { runningCount += 1 }

    /// Reports the end of a decode with a reservation of that many bytes; of its result, `bytes` live on.
    ///
    /// - Parameter isDelivered: whether ``made(_:keeping:holding:)`` was called for it.
    mutating func end(_ reserved: Int, holding bytes: Int = 0, isDelivered: Bool = false) -> [Action] {
        if isDelivered { deliveringCount -= 1 }
        inFlight -= reserved
        runningCount -= 1
        endCount += 1
        return hold(bytes)
    }

    /// Counts pixels that were not reserved.
    mutating func hold(_ bytes: Int) -> [Action] {
        held += bytes
        peak = max(peak, inFlight + held)
        return advance()
    }

    /// Reports that pixels were freed.
    mutating func release(_ bytes: Int) -> [Action] {
        held -= bytes
        // The evicting thread continues with the request that it evicts for.
        guard let head, requests[head]?.eviction != .underWay else { return [] }
        return advance()
    }

    /// Reports that caches have been evicted for a request, as far as possible.
    mutating func evicted(for id: UInt64) -> [Action] {
        if let request = urgent.removeValue(forKey: id) {
            let fits = limit <= 0 || request.need <= room
            let action = fits ? admit(id, request) : verdict(on: id, request, room: min(room, limit))
            return [action] + advance()
        }
        requests[id]?.eviction = .tried(endCount: endCount)
        return advance()
    }

    /// Reports that a request has waited for the maximum time.
    mutating func timeIsOver(for id: UInt64) -> [Action] {
        requests[id]?.timer = .over
        return advance()
    }

    /// Changes the limit, or the handling of requests that do not fit.
    mutating func change(_ body: (inout MemoryAdmission) -> Void) -> [Action] {
        body(&self)
        return advance()
    }

    // MARK: What follows

    private var head: UInt64? {
        mutating get {
            if let first = begun.first { return first.body }
            var head: (body: UInt64, priority: LoadPriority)?
            for domain in turns {
                guard let first = queues[domain]?.first else { continue }
                if head.map({ first.priority > $0.priority }) ?? true { head = first }
            }
            return head?.body
        }
    }

    private mutating func advance() -> [Action] {
        var actions: [Action] = []
        while let id = head, let request = requests[id] {
            let isOver: Bool
            if limit <= 0 || request.need <= room - promised {
                remove(id, request, isTurn: true)
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
            remove(id, request, isTurn: true)
            actions.append(verdict(on: id, request, room: request.need > limit ? limit : room))
        }
        return actions
    }

    /// Removes a waiting request.
    ///
    /// - Parameter isTurn: whether this was its policy's turn, so that the next one is another's.
    private mutating func remove(_ id: UInt64, _ request: Request, isTurn: Bool = false) {
        requests[id] = nil
        if request.isBegun {
            _ = begun.remove(request.place)
            return
        }
        _ = queues[request.domain]?.remove(request.place)
        let isLast = queues[request.domain]?.count == 0
        if isLast { queues[request.domain] = nil }
        guard isLast || isTurn else { return }
        turns.removeAll { $0 == request.domain }
        if !isLast { turns.append(request.domain) }
    }

    /// Returns the next action for the first request before it is refused; nil if it waits for running work.
    private mutating func wish(of id: UInt64, _ request: Request) -> (action: Action?, isOver: Bool)? {
        switch request.eviction {
        case .underWay: return nil
        case .tried(let count) where count == endCount: break
        case .tried, .notTried:
            requests[id]?.eviction = .underWay
            return (.evict(request.need - room, for: id), false)
        }
        if runningCount > deliveringCount { return nil }
        // The waiting time is limited, because the delivery may itself wait for this request and never end.
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

    /// Returns the verdict on a request for which there is no room.
    private func verdict(on id: UInt64, _ request: Request, room: Int) -> Action {
        guard shrinks, request.mayShrink, room >= Self.leastOffer else {
            return .decide(id, .refused(allowed: max(room, 0)))
        }
        return .decide(id, .smaller(within: room))
    }
}
