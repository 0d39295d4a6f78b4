import CMicrohttpd
import Glibc
import WebImage

/// An HTTP server over libmicrohttpd.
///
/// Its loops are threads with an epoll each. A request is answered in the loop, or its connection is suspended until another thread has the
/// answer. libmicrohttpd's parser is lenient, so each head passes a ``HeadCheck``.
final class MicroHTTPServer: HTTPServing {
    struct Settings: Sendable {
        /// The number of loops.
        var loopCount = 1
        /// The maximum number of connections; further ones are closed at once. Connections that wait for an answer count.
        var maximumConnectionCount = 8192
        /// The maximum number of connections of one address; 0 for no limit. Behind a proxy, all have one address.
        var maximumConnectionCountPerAddress = 0
        /// The seconds without activity after which a connection is closed, also in the middle of a request.
        var idleSeconds = 10
        /// The memory for the head of a request and its answer, in bytes. libmicrohttpd clears it after each request.
        var headByteCount = 16 << 10
        var headCheck = HeadCheck()
        /// True if other processes go on to listen on the same socket. Connections that wait for being accepted are left to them.
        var isListenerShared = false
    }

    /// The callbacks' context. It outlives the daemon.
    final class Context: Sendable {
        let handler: any HTTPHandling
        let headCheck: HeadCheck
        let departures: ClientDepartures
        let isQuiesced = Lock(false)
        /// The number of requests from their first line to their end.
        let busy = Counter()
        /// The number of all requests so far.
        let total = Counter()

        init(_ handler: any HTTPHandling, _ headCheck: HeadCheck, _ departures: ClientDepartures) {
            (self.handler, self.headCheck, self.departures) = (handler, headCheck, departures)
        }
    }

    private struct State: @unchecked Sendable {
        // Sendable because the daemon's functions may be called from any thread.
        var daemon: OpaquePointer?
        var isQuiesced = false
    }

    private let context: Context
    private let isListenerShared: Bool
    private let state: Lock<State>

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - listener: A listening socket. The server owns it, and closes it.
    /// - Throws: ``ServerStartError``.
    init(listener: Int32, settings: Settings, handler: any HTTPHandling) throws(ServerStartError) {
        guard let departures = ClientDepartures() else {
            throw ServerStartError("epoll_create: \(String(cString: strerror(errno)))")
        }
        context = Context(handler, settings.headCheck, departures)
        isListenerShared = settings.isListenerShared
        var raw = webimage_http_settings()
        raw.listener = listener
        raw.loop_count = UInt32(max(settings.loopCount, 1))
        raw.connection_limit = UInt32(max(settings.maximumConnectionCount, 1))
        raw.address_limit = UInt32(max(settings.maximumConnectionCountPerAddress, 0))
        raw.idle_seconds = UInt32(max(settings.idleSeconds, 1))
        raw.head_byte_count = settings.headByteCount
        raw.context = Unmanaged.passUnretained(context).toOpaque()
        raw.begin = { context, target, _ in MicroHTTPExchange.begin(context, target) }
        raw.handle = { context, connection, _, method, version, _, bodyCount, request in
            MicroHTTPExchange.handle(context, connection, method, version, bodyCount, request)
        }
        raw.end = { _, _, request, code in MicroHTTPExchange.end(request, code) }
        raw.connect = { _, connection, peer, code in MicroHTTPPeer.note(connection, peer, code) }
        guard let daemon = webimage_http_start(&raw) else {
            let number = errno
            close(listener)
            throw ServerStartError("the HTTP server cannot be started: \(String(cString: strerror(number)))")
        }
        state = Lock(State(daemon: daemon))
    }

    deinit { stop() }

    var connectionCount: Int {
        state.withLock { state in state.daemon.map { Int(webimage_http_connection_count($0)) } ?? 0 }
    }

    var busyCount: Int { context.busy.value }
    var requestCount: Int { context.total.value }

    func quiesce() {
        context.isQuiesced.withLock { $0 = true }
        state.withLock { state in
            guard let daemon = state.daemon, !state.isQuiesced else { return }
            state.isQuiesced = true
            let listener = MHD_quiesce_daemon(daemon)
            guard listener >= 0 else { return }
            // The kernel has accepted them, so their clients may have sent requests.
            if !isListenerShared { webimage_http_adopt_waiting(daemon, listener) }
            close(listener)
        }
    }

    func stop() {
        quiesce()
        context.departures.cancelAll()
        let daemon = state.withLock { state in
            defer { state.daemon = nil }
            return state.daemon
        }
        guard let daemon else { return }
        // A daemon must not be stopped while connections are suspended.
        context.departures.waitUntilEmpty()
        MHD_stop_daemon(daemon)
        context.departures.stop()
    }
}

/// The reason why a server cannot be started.
public struct ServerStartError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, in one line.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The address of a connection's client, made once.
final class MicroHTTPPeer: Sendable {
    let name: String

    private init(_ name: String) { self.name = name }

    static func note(
        _ connection: OpaquePointer?,
        _ peer: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        _ code: MHD_ConnectionNotificationCode
    ) {
        guard let connection, let peer else { return }
        if webimage_http_is_start(code) {
            // The loop's thread: answers must not wait for decodes, which use all processors.
            webimage_http_ask_for_latency()
            var text = [CChar](repeating: 0, count: 64)
            webimage_http_peer_name(connection, &text, text.count)
            let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            peer.pointee = Unmanaged.passRetained(MicroHTTPPeer(name)).toOpaque()
        } else if let pointer = peer.pointee {
            Unmanaged<MicroHTTPPeer>.fromOpaque(pointer).release()
            peer.pointee = nil
        }
    }

    /// Returns the address of a connection's client.
    static func name(of connection: OpaquePointer) -> String {
        guard let pointer = webimage_http_peer(connection) else { return "" }
        return Unmanaged<MicroHTTPPeer>.fromOpaque(pointer).takeUnretainedValue().name
    }
}
