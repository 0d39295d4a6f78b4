import Glibc
import WebImageCache

/// A client of Redis or Valkey: one server, or a cluster, which it recognises by the first redirection.
///
/// One thread of the client has all connections, one for each node, and pipelines the commands. It starts with the first command and
/// ends with the client. Completions run on it and must not block. Every command is completed by its deadline.
final class RedisClient: Sendable {
    private let inbox: RedisInbox
    private let configuration: RedisConfiguration
    private let clock: ClockSource
    private let gauges = Gauges()

    /// The circuit breakers of the nodes, counted by the loop.
    struct Gauges: Sendable {
        let open = Counter()
        let openings = Counter()
    }

    var circuits: RemoteCircuits { RemoteCircuits(openCount: gauges.open.value, openingCount: gauges.openings.value) }

    init(_ configuration: RedisConfiguration, clock: ClockSource = .system) {
        self.configuration = configuration
        self.clock = clock
        inbox = RedisInbox()
    }

    deinit { inbox.close() }

    /// Sends a command with one key.
    ///
    /// - Parameters:
    ///   - patience: the time until the deadline, in nanoseconds.
    ///   - completion: called exactly once, on the thread of the client, or on the caller's if there can be none.
    func send(
        _ command: RedisCommand,
        key: String,
        patience: UInt64,
        completion: @escaping RedisRequest.Completion
    ) {
        let request = RedisRequest(
            command,
            slot: ClusterSlots.slot(of: key.utf8),
            deadline: clock.monotonicNanoseconds() &+ patience,
            completion: completion
        )
        let start = inbox.add(.request(request)) { [inbox, configuration, clock, gauges] in
            DetachedThread.start(name: "wi-redis") {
                RedisLoop(inbox, configuration, clock, gauges).run()
            }
        }
        if !start { request.finish(.failure(.unavailable)) }
    }
}

/// The messages to the loop of a client, and the pipe that wakes it.
final class RedisInbox: Sendable {
    enum Message: Sendable {
        case request(RedisRequest)
        case resolved(RedisEndpoint, [RedisSocket.Address])
    }

    fileprivate struct State {
        var messages: [Message] = []
        /// A pair of connected sockets; the loop waits for the first. Nil before the first message.
        var pair: (Int32, Int32)?
        var isWoken = false
        var isClosed = false
    }

    private let state = Lock(State())

    deinit {
        state.withLock { state in
            guard let pair = state.pair else { return }
            close(pair.0)
            close(pair.1)
        }
    }

    /// Adds a message, and wakes the loop.
    ///
    /// - Parameter start: starts the loop; called for the first message. Returns false if it cannot.
    /// - Returns: False without a loop.
    func add(_ message: Message, start: () -> Bool = { true }) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            if state.pair == nil {
                guard let pair = Self.makePair() else { return false }
                state.pair = pair
                guard start() else {
                    state.pair = nil
                    close(pair.0)
                    close(pair.1)
                    return false
                }
            }
            state.messages.append(message)
            state.wake()
            return true
        }
    }

    /// The descriptor that can be read when there are messages, or the end.
    var descriptor: Int32 { state.withLock { $0.pair?.0 ?? -1 } }

    /// Takes the messages; nil at the end.
    func take() -> [Message]? {
        state.withLock { state in
            if state.isWoken, let pair = state.pair {
                var bytes: UInt64 = 0
                recv(pair.0, &bytes, 8, 0)
                state.isWoken = false
            }
            guard !state.isClosed else { return nil }
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Ends the loop. Messages that it has not taken are failed.
    func close() {
        let messages = state.withLock { state in
            state.isClosed = true
            state.wake()
            defer { state.messages = [] }
            return state.messages
        }
        for case .request(let request) in messages { request.finish(.failure(.unavailable)) }
    }

    private static func makePair() -> (Int32, Int32)? {
        var pair: [Int32] = [0, 0]
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        return socketpair(AF_UNIX, flags, 0, &pair) == 0 ? (pair[0], pair[1]) : nil
    }

    private func close(_ descriptor: Int32) { Glibc.close(descriptor) }
}

extension RedisInbox.State {
    fileprivate mutating func wake() {
        guard let pair, !isWoken else { return }
        var byte: UInt8 = 1
        isWoken = send(pair.1, &byte, 1, Int32(MSG_NOSIGNAL)) == 1
    }
}
