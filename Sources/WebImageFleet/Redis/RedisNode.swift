import Glibc
import WebImageCache

/// One node and the connection to it: pipelined commands, whose replies arrive in their order. Used only on the thread of the client's
/// loop.
final class RedisNode {
    private enum Connection {
        case none
        /// The host's name is being looked up.
        case resolving
        case connecting(RedisChannel, since: UInt64)
        /// The handshake of TLS.
        case securing(RedisChannel, since: UInt64)
        /// The number of replies that are missing before commands may be sent.
        case greeting(RedisChannel, missing: Int)
        case ready(RedisChannel)
    }

    /// A command that was sent.
    private struct Sent {
        /// Nil for a command whose reply does not matter.
        let request: RedisRequest?
        let time: UInt64
    }

    /// The functions that a connection calls.
    struct Surroundings {
        /// Looks a name up on another thread; the answer is given to ``RedisNode/resolved(_:at:)``.
        var resolve: (RedisEndpoint) -> Void
        /// Takes a reply that needs another node, or another attempt.
        var refused: (RedisRequest, RedisRefusal, RedisNode) -> Void
        /// Called after a connection has failed.
        var failed: (RedisNode) -> Void
        /// Called after the circuit breaker has opened or closed. A failed probe opens nothing: it is open.
        var circuit: (_ isOpen: Bool) -> Void
        var random: () -> Double
    }

    let endpoint: RedisEndpoint
    private let configuration: RedisConfiguration
    private let surroundings: Surroundings
    private(set) var health: NodeHealth
    private var connection = Connection.none
    private var addresses: [RedisSocket.Address] = []
    private var reader: RESPReader
    private var output: [UInt8] = []
    private var outputStart = 0
    /// Commands that wait for the connection.
    private var waiting: [RedisRequest] = []
    /// Commands that were sent, of which the first `answeredCount` have a reply.
    private var sent: [Sent] = []
    private var answeredCount = 0

    init(_ endpoint: RedisEndpoint, _ configuration: RedisConfiguration, _ surroundings: Surroundings) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.surroundings = surroundings
        reader = RESPReader(limits: configuration.limits)
        health = NodeHealth(rules: configuration.health)
    }

    deinit { channel?.close() }

    private var channel: RedisChannel? {
        switch connection {
        case .none, .resolving: nil
        case .connecting(let channel, _), .securing(let channel, _), .greeting(let channel, _), .ready(let channel):
            channel
        }
    }

    /// The descriptor to wait for, and whether it must be possible to write.
    var interest: (descriptor: Int32, writes: Bool)? {
        guard let channel else { return nil }
        if case .connecting = connection { return (channel.descriptor, true) }
        return (channel.descriptor, outputStart < output.count || channel.hasOutput)
    }

    // MARK: Commands

    /// Takes a command, or fails it at once if the circuit is open.
    ///
    /// - Parameter isAsking: True if the node is asked although another has the slot.
    func take(_ request: RedisRequest, isAsking: Bool = false, at now: UInt64) {
        request.admission = health.admit(at: now)
        guard request.admission != .refused else { return request.finish(.failure(.unavailable)) }
        // It would come too late as well. A load asks several times, but waits once. A probe is sent whatever happens.
        if request.admission == .proceed, let since = waitsSince, since < now,
            now - since > request.deadline - min(now, request.deadline)
        {
            return request.finish(.failure(.unavailable))
        }
        request.attempts += 1
        if case .ready = connection { return send(request, isAsking: isAsking, at: now) }
        // It is not asked in vain when the connection is made: the node then refuses it, and it is redirected again.
        waiting.append(request)
        if case .none = connection { connect(at: now) }
    }

    /// The time since which the connection, or its next reply, is waited for.
    private var waitsSince: UInt64? {
        switch connection {
        case .connecting(_, let since), .securing(_, let since): since
        case .greeting, .ready: answeredCount < sent.count ? sent[answeredCount].time : nil
        case .none, .resolving: nil
        }
    }

    private func send(_ request: RedisRequest, isAsking: Bool = false, at now: UInt64) {
        if isAsking { send(RedisCommand("ASKING"), for: nil, at: now) }
        send(request.command, for: request, at: now)
    }

    private func send(_ command: RedisCommand, for request: RedisRequest?, at now: UInt64) {
        command.write(to: &output)
        sent.append(Sent(request: request, time: now))
    }

    /// Writes as much as possible.
    func flush(at now: UInt64) {
        guard let channel else { return }
        switch connection {
        case .connecting, .securing: return
        default: break
        }
        guard outputStart < output.count else {
            if channel.hasOutput, channel.flush() == .ended { fail(at: now) }
            return
        }
        while outputStart < output.count {
            let progress = output.withUnsafeBytes { channel.send(UnsafeRawBufferPointer(rebasing: $0[outputStart...])) }
            switch progress {
            case .done(let count): outputStart += count
            case .blocked: return
            case .ended: return fail(at: now)
            }
        }
        // Big values are not held for the next commands.
        output.removeAll(keepingCapacity: output.capacity <= 256 << 10)
        outputStart = 0
    }

    // MARK: Connecting

    private func connect(at now: UInt64) {
        if let address = RedisSocket.address(of: endpoint) {
            addresses = [address]
            tryNextAddress(at: now)
        } else {
            connection = .resolving
            surroundings.resolve(endpoint)
        }
    }

    /// Takes the addresses of the host.
    func resolved(_ found: [RedisSocket.Address], at now: UInt64) {
        guard case .resolving = connection else { return }
        addresses = found
        tryNextAddress(at: now)
    }

    private func tryNextAddress(at now: UInt64) {
        // Forgotten at once: the descriptor of a closed socket may already be that of another file, which must not be closed.
        channel?.close()
        connection = .none
        while !addresses.isEmpty {
            if let socket = RedisSocket(connectingTo: addresses.removeFirst()) {
                connection = .connecting(RedisChannel(socket), since: now)
                return
            }
        }
        fail(at: now)
    }

    private func connected(_ channel: RedisChannel, _ buffer: UnsafeMutableRawBufferPointer, at now: UInt64) {
        guard channel.socket.isConnected else { return tryNextAddress(at: now) }
        guard let context = configuration.tls.value else { return greet(channel, at: now) }
        guard let session = TLSSession(context, host: endpoint.host) else { return fail(at: now) }
        channel.secure(session)
        connection = .securing(channel, since: now)
        secure(channel, buffer, at: now)
    }

    private func secure(_ channel: RedisChannel, _ buffer: UnsafeMutableRawBufferPointer, at now: UInt64) {
        switch channel.shakeHands(buffer) {
        case .done: greet(channel, at: now)
        case .blocked: break
        case .ended: fail(at: now)
        }
    }

    private func greet(_ channel: RedisChannel, at now: UInt64) {
        let handshake = configuration.handshake
        connection = .greeting(channel, missing: handshake.count)
        for command in handshake { send(command, for: nil, at: now) }
        if handshake.isEmpty { sendWaiting(channel, at: now) }
    }

    private func sendWaiting(_ channel: RedisChannel, at now: UInt64) {
        connection = .ready(channel)
        let requests = waiting
        waiting = []
        for request in requests where request.isWanted { send(request, at: now) }
        flush(at: now)
    }

    // MARK: Events

    /// Handles what the system reports of the descriptor.
    func handle(_ events: Int32, buffer: UnsafeMutableRawBufferPointer, at now: UInt64) {
        switch connection {
        case .connecting(let channel, _):
            if events & Int32(POLLOUT | POLLERR | POLLHUP) != 0 { connected(channel, buffer, at: now) }
            return flush(at: now)
        case .securing(let channel, _):
            secure(channel, buffer, at: now)
            return flush(at: now)
        default: break
        }
        if events & Int32(POLLIN | POLLERR | POLLHUP) != 0 { read(buffer, at: now) }
        if events & Int32(POLLOUT) != 0 { flush(at: now) }
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer, at now: UInt64) {
        guard let channel else { return }
        // One busy node must not keep the loop from the others.
        for _ in 0..<16 {
            switch channel.receive(into: buffer) {
            case .done(let count):
                reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                guard takeReplies(at: now) else { return }
                if count < buffer.count { return }
            case .blocked: return
            case .ended: return fail(at: now)
            }
        }
    }

    /// Returns false after the connection has failed.
    private func takeReplies(at now: UInt64) -> Bool {
        while true {
            let reply: RESPValue?
            do throws(RESPReader.Failure) { reply = try reader.next() } catch {
                fail(at: now)
                return false
            }
            guard let reply else { return true }
            if case .push = reply { continue }
            // A reply that nobody has asked for: the stream has lost its order.
            guard let sent = nextSent() else {
                fail(at: now)
                return false
            }
            guard take(reply, to: sent, at: now) else { return false }
        }
    }

    /// Takes the oldest command without a reply.
    private func nextSent() -> Sent? {
        guard answeredCount < sent.count else { return nil }
        defer {
            answeredCount += 1
            if answeredCount == sent.count || answeredCount >= 256 {
                sent.removeFirst(answeredCount)
                answeredCount = 0
            }
        }
        return sent[answeredCount]
    }

    private func take(_ reply: RESPValue, to sent: Sent, at now: UInt64) -> Bool {
        if case .greeting(let channel, let missing) = connection {
            guard reply.isOK else {
                fail(at: now)
                return false
            }
            connection = .greeting(channel, missing: missing - 1)
            if missing == 1 { sendWaiting(channel, at: now) }
            return true
        }
        guard let request = sent.request else { return true }
        guard case .error(let line) = reply else {
            note(.answered, of: request, at: now)
            request.finish(.success(reply))
            return true
        }
        let refusal = RedisRefusal(line)
        let isFailure = refusal.reaction(afterAttempts: request.attempts) == .failNode
        note(isFailure ? .failed : .answered, of: request, at: now)
        surroundings.refused(request, refusal, self)
        return true
    }

    /// Counts the outcome of a request, unless it was counted as late.
    private func note(_ outcome: NodeHealth.Outcome, of request: RedisRequest, at now: UInt64) {
        guard request.isWanted else { return }
        let wasClosed = health.isClosed
        health.note(outcome, of: request.admission, at: now, random: surroundings.random())
        if health.isClosed != wasClosed { surroundings.circuit(wasClosed) }
    }

    // MARK: Time

    /// Ends what has taken too long. Returns the time of the next call.
    func expire(at now: UInt64) -> UInt64 {
        var next = UInt64.max
        waiting.removeAll { expire($0, at: now, &next) }
        for entry in sent[answeredCount...] { if let request = entry.request { _ = expire(request, at: now, &next) } }
        switch connection {
        case .connecting(_, let since):
            let end = since &+ configuration.connectTimeout
            if now >= end { tryNextAddress(at: now) } else { next = min(next, end) }
        case .securing(_, let since):
            let end = since &+ configuration.connectTimeout
            if now >= end { fail(at: now) } else { next = min(next, end) }
        case .greeting, .ready:
            guard answeredCount < sent.count else { break }
            let end = sent[answeredCount].time &+ configuration.silence
            if now >= end { fail(at: now) } else { next = min(next, end) }
        case .none, .resolving: break
        }
        if !health.isClosed { giveUp() }
        return next
    }

    /// Fails the commands that were sent before the circuit opened: their replies would be late, too. Not the probe.
    private func giveUp() {
        for request in waiting + sent[answeredCount...].compactMap(\.request) where !Self.isProbe(request) {
            request.finish(.failure(.unavailable))
        }
    }

    private func expire(_ request: RedisRequest, at now: UInt64, _ next: inout UInt64) -> Bool {
        guard request.isWanted else { return true }
        guard now >= request.deadline else {
            next = min(next, request.deadline)
            return false
        }
        note(.late, of: request, at: now)
        request.finish(.failure(.late))
        return true
    }

    /// Ends the connection; the next command makes another.
    private func fail(at now: UInt64) {
        let requests = waiting + sent[answeredCount...].compactMap(\.request)
        let reason = channel?.failure.map { RedisFailure.untrusted($0) } ?? .connection
        channel?.close()
        connection = .none
        (addresses, output, outputStart, waiting) = ([], [], 0, [])
        (sent, answeredCount) = ([], 0)
        reader = RESPReader(limits: configuration.limits)
        // One failed connection is one failure, however many commands it had.
        if let request = requests.first(where: { $0.isWanted && Self.isProbe($0) }) ?? requests.first(where: \.isWanted)
        {
            note(.failed, of: request, at: now)
        }
        for request in requests { request.finish(.failure(reason)) }
        surroundings.failed(self)
    }

    private static func isProbe(_ request: RedisRequest) -> Bool {
        if case .probe = request.admission { true } else { false }
    }

    /// Fails everything.
    func close() {
        let requests = waiting + sent[answeredCount...].compactMap(\.request)
        channel?.close()
        connection = .none
        (waiting, sent, answeredCount) = ([], [], 0)
        for request in requests { request.finish(.failure(.unavailable)) }
    }
}
