import CLinux
import Glibc

/// Shuts down connections whose servers keep libcurl busy without sending content.
///
/// While frames without content arrive (PRIORITY, empty DATA, unknown types), `curl_multi_perform` of many versions keeps reading
/// and does not return. Until it does, no transfer of the loop makes progress, no deadline is checked, and no cancellation is
/// handled. Therefore the watchdog checks from another thread, and only while the loop is working. It shuts down a connection from
/// which much was read, within one call or while no content reached any transfer, if little of it reached a transfer; libcurl then
/// returns with an error.
///
/// Over HTTP/1.1, a call reads at most 25 MiB per transfer. Over HTTP/2, the bytes that it reads for many transfers reach them. So
/// a connection that is only fast is not shut down.
final class CurlWatchdog: Sendable {
    /// The number of bytes that may be read from a connection without reaching a transfer.
    static let idleByteLimit: UInt64 = 32 << 20
    /// The interval between two checks, in nanoseconds. The first check of a call, or after content was handed out, only records
    /// the byte counts so far.
    static let interval: UInt64 = 250_000_000

    private struct State {
        /// The sockets of all connections, and the bytes read from each at the first of the checks that are compared.
        var sockets: [Int32: UInt64?] = [:]
        /// The number of calls so far.
        var call: UInt64 = 0
        var isInCall = false
        /// The call of the last check, and the bytes that libcurl had handed out at the first of the checks that are compared.
        var seenCall: UInt64 = 0
        var seenContentByteCount: Int?
        var isLooking = false
        /// The sockets that were shut down, with their local ports, and those of them that have been closed since.
        var cutOff: [Int32: Int] = [:]
        var closed: Set<Int32> = []
    }

    private let delays: DelaySource
    private let readByteCount: @Sendable (Int32) -> UInt64?
    private let state = Lock(State())
    /// The number of header and body bytes that libcurl has handed out, in all calls. Counted without a lock because it changes
    /// often.
    private let contentByteCount = Counter()

    /// - Parameter readByteCount: returns the number of bytes read from a socket; nil if the system does not report it.
    init(delays: DelaySource, readByteCount: @escaping @Sendable (Int32) -> UInt64? = CurlWatchdog.readByteCount) {
        self.delays = delays
        self.readByteCount = readByteCount
    }

    /// The error of transfers whose connection was shut down.
    static var error: WebImageError {
        WebImageError(.networkConnectionLost, "the server kept the connection busy without sending content")
    }

    @Sendable private static func readByteCount(_ socket: Int32) -> UInt64? {
        var count: UInt64 = 0
        return webimage_socket_read_count(socket, &count) ? count : nil
    }

    // MARK: From the loop's thread

    func socketOpened(_ socket: Int32) { state.withLock { $0.sockets[socket] = .some(nil) } }

    /// Closes a socket under the lock, so that it cannot be shut down after its number has another owner.
    func close(_ socket: Int32) -> Int32 {
        state.withLock { state in
            state.sockets[socket] = nil
            if state.cutOff[socket] != nil { state.closed.insert(socket) }
            return Glibc.close(socket)
        }
    }

    func callBegins() {
        let mustLook = state.withLock { state -> Bool in
            state.call += 1
            state.isInCall = true
            guard !state.isLooking, !state.sockets.isEmpty else { return false }
            state.isLooking = true
            return true
        }
        if mustLook { lookLater() }
    }

    /// Returns the local ports of the connections that were shut down. libcurl decides which call reports the error, so a port is
    /// returned as long as the connection is open, and once more.
    func callEnds() -> Set<Int> {
        state.withLock { state in
            state.isInCall = false
            guard !state.cutOff.isEmpty else { return [] }
            defer {
                for socket in state.closed { state.cutOff[socket] = nil }
                state.closed = []
            }
            return Set(state.cutOff.values)
        }
    }

    /// Counts header and body bytes that libcurl has handed out.
    func noteContent(byteCount: Int) { contentByteCount.add(byteCount) }

    // MARK: From other threads

    private func lookLater() { _ = delays.after(Self.interval) { [self] in look() } }

    private func look() {
        let goesOn = state.withLock { state -> Bool in
            let isSameCall = state.call == state.seenCall
            guard state.isInCall || !isSameCall else {
                (state.isLooking, state.seenContentByteCount) = (false, nil)
                return false
            }
            state.seenCall = state.call
            let content = contentByteCount.value
            if let seen = state.seenContentByteCount, isSameCall || content == seen {
                cutOff(&state, contentByteCount: content - seen)
            } else {
                state.seenContentByteCount = content
                for socket in state.sockets.keys { state.sockets[socket] = .some(readByteCount(socket)) }
            }
            return true
        }
        if goesOn { lookLater() }
    }

    private func cutOff(_ state: inout State, contentByteCount: Int) {
        let allowed = Self.idleByteLimit + 4 * UInt64(max(contentByteCount, 0))
        for (socket, before) in state.sockets {
            guard let count = readByteCount(socket) else { continue }
            guard let before else {
                state.sockets[socket] = .some(count)
                continue
            }
            guard count > before, count - before > allowed else { continue }
            state.cutOff[socket] = Int(webimage_socket_port(socket))
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }
}
