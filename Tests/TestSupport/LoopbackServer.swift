import CTestSupport
public import FoundationEssentials
import Glibc

/// An HTTP/1.1 server in this process, on a free port of 127.0.0.1, that answers as a test tells it, rightly or wrongly.
///
/// ```swift
/// let server = try LoopbackServer { request in
///     request.path == "/a.jpg" ? .response(body: jpeg) : .response(404)
/// }
/// let data = try await downloader.downloadData(with: server.url("/a.jpg"))
/// #expect(server.requestCount("/a.jpg") == 1)
/// ```
///
/// Every connection has a thread. The server ends with the object.
public final class LoopbackServer: Sendable {
    /// Makes the response to a request; called on the connection's thread and may block it.
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// No port, or no socket, is available.
    public struct StartFailure: Error {}

    private struct State {
        var requests: [LoopbackRequest] = []
        var connections: Set<Int32> = []
        var connectionCount = 0
        var isStopped = false
    }

    /// The port that it listens on.
    public let port: Int
    private let listener: Int32
    private let state: Monitor<State>

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - address: Another of Linux's local addresses, 127.0.0.2 for example, as a number.
    ///   - port: A port; any that is free by default.
    public init(address: UInt32 = 0x7f00_0001, port: Int = 0, _ handler: @escaping Handler) throws {
        signal(SIGPIPE, SIG_IGN)
        guard let (listener, port) = LoopbackSocket.bind(reusesAddress: false, address: address, port: port) else {
            throw StartFailure()
        }
        guard listen(listener, 512) == 0 else {
            close(listener)
            throw StartFailure()
        }
        (self.listener, self.port) = (listener, port)
        state = Monitor(State())
        let state = state
        startThread {
            while true {
                let connection = ctest_accept(listener)
                if connection < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    break
                }
                let number = state.withLock { state -> Int? in
                    guard !state.isStopped else { return nil }
                    state.connections.insert(connection)
                    state.connectionCount += 1
                    return state.connectionCount
                }
                guard let number else {
                    close(connection)
                    break
                }
                startThread { Self.serve(connection, number: number, state: state, handler: handler) }
            }
            close(listener)
        }
    }

    deinit { stop() }

    /// Ends all connections; later ones are refused.
    public func stop() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.isStopped = true }
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            return !state.isStopped
        }
        if isFirst { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    // MARK: Queries of tests

    /// The URL of a path on this server, which starts with a slash.
    public func url(_ path: String, scheme: String = "http") -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") else {
            preconditionFailure("\(path) is not a path")
        }
        return url
    }

    /// Requests so far, in order of arrival.
    public var requests: [LoopbackRequest] { state.withLock { $0.requests } }

    /// The number of requests for a path, or for all; queries do not count as part of a path.
    public func requestCount(_ path: String? = nil) -> Int {
        requests.filter { path == nil || $0.path == path }.count
    }

    /// The number of connections made so far.
    public var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// The number of open connections.
    public var openConnectionCount: Int { state.withLock { $0.connections.count } }

    /// Suspends until the server's state is as wanted; false after 30 seconds.
    @discardableResult
    public func wait(until condition: @escaping @Sendable (_ requests: Int, _ open: Int) -> Bool) async -> Bool {
        let state = state
        return await valueOnThread {
            state.wait { condition($0.requests.count, $0.connections.count) ? true : nil } ?? false
        }
    }

    // MARK: Sockets

    private static func serve(_ socket: Int32, number: Int, state: Monitor<State>, handler: Handler) {
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let connection = LoopbackConnection(socket: socket)
        while let request = LoopbackRequest(from: connection, connection: number) {
            state.withLock { $0.requests.append(request) }
            let response = handler(request)
            guard response.run(request, connection) else { break }
        }
        // Closed under the lock, so that `stop` cannot reach a descriptor that has a new owner.
        state.withLock { state in
            state.connections.remove(socket)
            close(socket)
        }
    }
}

/// A request as the server received it.
public struct LoopbackRequest: Sendable {
    /// The method, for example GET.
    public let method: String
    /// The target as it was sent; an absolute URL when the client uses the server as a proxy.
    public let target: String
    /// Fields in order of arrival.
    public let headers: [(name: String, value: String)]
    /// The body, if its length was given.
    public let body: [UInt8]
    /// The number of the connection, from 1 on.
    public let connection: Int

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }
    /// The part after the question mark.
    public var query: String { target.contains("?") ? String(target.drop { $0 != "?" }.dropFirst()) : "" }

    /// The first value of a field, or nil.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    init?(from connection: LoopbackConnection, connection number: Int) {
        guard let lines = connection.readHead(), let first = lines.first else { return nil }
        let parts = first.split(separator: " ")
        guard parts.count == 3 else { return nil }
        method = String(parts[0])
        target = String(parts[1])
        self.connection = number
        let headers: [(name: String, value: String)] = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        self.headers = headers
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        guard let body = connection.readBody(length) else { return nil }
        self.body = body
    }
}
