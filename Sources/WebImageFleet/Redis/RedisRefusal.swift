/// An error that a server replied with, as far as a client can react to it.
enum RedisRefusal: Error, Sendable, Hashable {
    /// Another node has the slot from now on. An empty host means the one that replied.
    case moved(slot: Int, RedisEndpoint)
    /// Another node has this key while the slot is moving; it must be asked once, after `ASKING`.
    case ask(slot: Int, RedisEndpoint)
    /// The keys of a command are on two nodes while a slot is moving.
    case tryAgain
    /// The cluster has no node for the slot, or is being elected.
    case clusterDown
    /// The server is reading its data from disk.
    case loading
    /// A replica, which takes no writes, or a master without enough replicas.
    case readOnly
    /// The memory limit is reached, and the eviction policy permits no eviction.
    case outOfMemory
    /// The user or password is wrong or missing.
    case denied
    /// The user has no right to the command or the key.
    case forbidden
    /// The script is not known to the server.
    case noScript
    /// The code of any other error.
    case other(String)

    /// The way in which a client goes on after a refusal.
    enum Reaction: Sendable, Hashable {
        /// The command is sent to that node, which has the slot from now on.
        case redirect(slot: Int, RedisEndpoint)
        /// The command is sent to that node, once, after `ASKING`.
        case askOnce(RedisEndpoint)
        /// The command is sent once more, after a short delay.
        case retryOnce
        /// The command has failed, and so has its node: it counts for the circuit breaker.
        case failNode
        /// The command has failed; the node is well.
        case failCommand
    }

    /// Parses the line of an error.
    init(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
        let code = words.first.map { String($0.prefix(64)) } ?? ""
        switch code {
        case "MOVED", "ASK":
            guard words.count >= 3, let slot = Int(words[1]), ClusterSlots.range.contains(slot),
                let endpoint = RedisEndpoint(hostAndPort: String(words[2]))
            else {
                self = .other(code)
                return
            }
            self = code == "MOVED" ? .moved(slot: slot, endpoint) : .ask(slot: slot, endpoint)
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN": self = .clusterDown
        case "LOADING", "MASTERDOWN", "BUSY": self = .loading
        case "READONLY", "NOREPLICAS", "MISCONF": self = .readOnly
        case "OOM": self = .outOfMemory
        case "NOAUTH", "WRONGPASS", "DENIED": self = .denied
        case "NOPERM": self = .forbidden
        case "NOSCRIPT": self = .noScript
        default: self = .other(code)
        }
    }

    /// The reaction to the refusal of a command.
    ///
    /// - Parameter attempts: the number of times that the command was sent before this reply, including redirections.
    func reaction(afterAttempts attempts: Int) -> Reaction {
        switch self {
        case .moved(let slot, let endpoint):
            attempts <= Self.mostRedirections ? .redirect(slot: slot, endpoint) : .failNode
        case .ask(_, let endpoint): attempts <= Self.mostRedirections ? .askOnce(endpoint) : .failNode
        case .tryAgain: attempts <= 1 ? .retryOnce : .failCommand
        case .clusterDown, .loading, .readOnly, .outOfMemory, .denied: .failNode
        case .forbidden, .noScript, .other: .failCommand
        }
    }

    /// The number of redirections that a command follows: a slot that has moved twice since the table was read.
    private static let mostRedirections = 3
}

/// The address of a node.
struct RedisEndpoint: Sendable, Hashable {
    /// A name or an address, without brackets; empty in replies that mean the node that sent them.
    var host: String
    var port: UInt16

    init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// Parses `host:port`; nil without a valid port. The last colon separates: an IPv6 address has others.
    init?(hostAndPort text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard host.utf8.count <= 255, host.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        self.init(host: String(host), port: port)
    }
}
