import Glibc
import WebImageCache

/// The thread of a client: waits for sockets and deadlines, and sends each command to the node that has its slot.
final class RedisLoop {
    private static let mostNodes = 128
    /// The shortest time between two looks at the table of slots, in nanoseconds.
    private static let refreshInterval: UInt64 = 250_000_000

    private let inbox: RedisInbox
    private let configuration: RedisConfiguration
    private let clock: ClockSource
    private let gauges: RedisClient.Gauges
    private var nodes: [RedisEndpoint: RedisNode] = [:]
    /// Nil for a single server.
    private var slots: ClusterSlots?
    private var refreshedAt: UInt64?
    /// Commands that are sent again after a short delay.
    private var delayed: [(due: UInt64, request: RedisRequest)] = []
    private var random = SystemRandomNumberGenerator()

    init(
        _ inbox: RedisInbox,
        _ configuration: RedisConfiguration,
        _ clock: ClockSource,
        _ gauges: RedisClient.Gauges
    ) {
        self.inbox = inbox
        self.configuration = configuration
        self.clock = clock
        self.gauges = gauges
    }

    /// Runs until the client is closed.
    func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        let wake = inbox.descriptor
        while let messages = inbox.take() {
            let now = clock.monotonicNanoseconds()
            for message in messages { take(message, at: now) }
            let due = flushAndExpire(at: now)
            let waited = Array(nodes.values)
            wait(waited, wake: wake, until: due, from: now, buffer)
        }
        for node in nodes.values { node.close() }
        for entry in delayed { entry.request.finish(.failure(.unavailable)) }
    }

    private func take(_ message: RedisInbox.Message, at now: UInt64) {
        switch message {
        case .request(let request): route(request, at: now)
        case .resolved(let endpoint, let addresses): nodes[endpoint]?.resolved(addresses, at: now)
        }
    }

    /// Returns the time at which something is due.
    private func flushAndExpire(at now: UInt64) -> UInt64 {
        let due = delayed.filter { $0.due <= now }
        delayed.removeAll { $0.due <= now }
        for entry in due where entry.request.isWanted { route(entry.request, at: now) }
        var next = delayed.map { min($0.due, $0.request.deadline) }.min() ?? .max
        // A node that fails may ask others, which changes the nodes.
        for node in Array(nodes.values) {
            node.flush(at: now)
            next = min(next, node.expire(at: now))
        }
        return next
    }

    private func wait(
        _ nodes: [RedisNode],
        wake: Int32,
        until due: UInt64,
        from now: UInt64,
        _ buffer: UnsafeMutableRawBufferPointer
    ) {
        var polled = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
        var owners: [RedisNode] = []
        for node in nodes {
            guard let interest = node.interest else { continue }
            let events = Int16(POLLIN) | (interest.writes ? Int16(POLLOUT) : 0)
            polled.append(pollfd(fd: interest.descriptor, events: events, revents: 0))
            owners.append(node)
        }
        // Rounded up: a deadline in less than a millisecond must not be waited for busily.
        let timeout = due == .max ? -1 : Int32(clamping: (due > now ? due - now : 0) / 1_000_000 + 1)
        guard poll(&polled, nfds_t(polled.count), timeout) > 0 else { return }
        let now = clock.monotonicNanoseconds()
        for (node, entry) in zip(owners, polled.dropFirst())
        where entry.revents != 0 && node.interest?.descriptor == entry.fd {
            node.handle(Int32(entry.revents), buffer: buffer, at: now)
        }
    }

    // MARK: Routing

    private func route(_ request: RedisRequest, at now: UInt64) {
        let endpoint = slots?.master(of: request.slot) ?? configuration.endpoint
        give(request, to: endpoint, at: now)
    }

    private func give(_ request: RedisRequest, to endpoint: RedisEndpoint, isAsking: Bool = false, at now: UInt64) {
        guard let node = node(endpoint) else { return request.finish(.failure(.unavailable)) }
        node.take(request, isAsking: isAsking, at: now)
        node.flush(at: now)
    }

    private func node(_ endpoint: RedisEndpoint) -> RedisNode? {
        if let node = nodes[endpoint] { return node }
        guard nodes.count < Self.mostNodes else { return nil }
        let surroundings = RedisNode.Surroundings(
            resolve: { [inbox] endpoint in
                let isStarted = DetachedThread.start(name: "wi-redis-name") {
                    _ = inbox.add(.resolved(endpoint, RedisSocket.addresses(of: endpoint)))
                }
                if !isStarted { _ = inbox.add(.resolved(endpoint, [])) }
            },
            refused: { [unowned self] in refused($0, $1, by: $2) },
            failed: { [unowned self] _ in refresh(at: clock.monotonicNanoseconds()) },
            circuit: { [gauges] isOpen in
                gauges.open.add(isOpen ? 1 : -1)
                if isOpen { gauges.openings.add() }
            },
            random: { [unowned self] in Double.random(in: 0...1, using: &random) }
        )
        let node = RedisNode(endpoint, configuration, surroundings)
        nodes[endpoint] = node
        return node
    }

    private func refused(_ request: RedisRequest, _ refusal: RedisRefusal, by node: RedisNode) {
        let now = clock.monotonicNanoseconds()
        let reaction = refusal.reaction(afterAttempts: request.attempts)
        switch reaction {
        case .redirect(let slot, let endpoint):
            let endpoint = absolute(endpoint, node)
            slots = slots ?? ClusterSlots()
            slots?.move(slot, to: endpoint)
            refresh(at: now)
            if request.isWanted { give(request, to: endpoint, at: now) }
        case .askOnce(let endpoint):
            if request.isWanted { give(request, to: absolute(endpoint, node), isAsking: true, at: now) }
        case .retryOnce: delayed.append((now &+ 1_000_000, request))
        case .failNode, .failCommand:
            if refusal == .clusterDown { refresh(at: now) }
            request.finish(.failure(.refused(refusal)))
        }
    }

    private func absolute(_ endpoint: RedisEndpoint, _ node: RedisNode) -> RedisEndpoint {
        endpoint.host.isEmpty ? RedisEndpoint(host: node.endpoint.host, port: endpoint.port) : endpoint
    }

    /// Asks any node in operation for the table of slots, unless that was done a moment ago.
    private func refresh(at now: UInt64) {
        guard let slots, refreshedAt.map({ now &- $0 >= Self.refreshInterval }) ?? true else { return }
        refreshedAt = now
        let candidates = Set(slots.masters + [configuration.endpoint])
        guard let endpoint = candidates.filter({ nodes[$0]?.health.isClosed ?? true }).randomElement(using: &random)
        else { return }
        let request = RedisRequest(
            RedisCommand("CLUSTER", "SLOTS"),
            slot: 0,
            deadline: now &+ 1_000_000_000,
            completion: { [loop = LoopReference(self)] in loop.take($0, from: endpoint) }
        )
        give(request, to: endpoint, at: now)
    }

    fileprivate func take(_ result: Result<RESPValue, RedisFailure>, from endpoint: RedisEndpoint) {
        guard case .success(let reply) = result, let table = ClusterSlots(reply, from: endpoint),
            !table.masters.isEmpty
        else { return }
        slots = table
    }
}

/// A reference to the loop for the completions of the commands that it sends itself.
private final class LoopReference: @unchecked Sendable {
    // Sendable because it is only used on the thread of the loop.
    private weak var loop: RedisLoop?

    init(_ loop: RedisLoop) { self.loop = loop }

    func take(_ result: Result<RESPValue, RedisFailure>, from endpoint: RedisEndpoint) {
        loop?.take(result, from: endpoint)
    }
}
