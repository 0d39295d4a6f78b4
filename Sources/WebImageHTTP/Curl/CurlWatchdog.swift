import CLinux
import Glibc

/// Ends connections whose servers keep libcurl busy with nothing.
///
/// While frames come that carry nothing (PRIORITY, empty DATA, unknown types), `curl_multi_perform` of many versions reads on and does
/// not return. Until it does, no transfer of the loop goes on, no deadline is looked at, and no cancel is heeded. So somebody else
/// looks, on another thread and only while there is something to do. A connection that much was read from, within one call or while
/// nothing reached any transfer, is shut down if little of that reached a transfer; libcurl returns with an error then.
///
/// A call reads at most 25 MiB for each transfer over HTTP/1.1, and what it reads over HTTP/2 for many transfers reaches them; so what
/// is only fast is left alone.
final class CurlWatchdog: Sendable {
    /// Bytes that may be read from a connection without reaching anybody.
    static let idleByteLimit: UInt64 = 32 << 20
    /// How many nanoseconds pass between two looks. The first one at a call, or after something was handed out, only notes what was
    /// read so far.
    static let interval: UInt64 = 250_000_000

    private struct State {
        /// The sockets of all connections, and what had been read from each at the first of the looks that are compared.
        var sockets: [Int32: UInt64?] = [:]
        /// Counts the calls.
        var call: UInt64 = 0
        var isInCall = false
        /// The call of the last look, and the bytes that libcurl had handed out by the first of the looks that are compared.
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
    /// Bytes of headers and bodies that libcurl has handed out, in all calls. Counted without a lock: they come often.
    private let contentByteCount = Counter()

    /// - Parameter readByteCount: how many bytes have been read from a socket; nil where the system does not say.
    init(delays: DelaySource, readByteCount: @escaping @Sendable (Int32) -> UInt64? = CurlWatchdog.readByteCount) {
        self.delays = delays
        self.readByteCount = readByteCount
    }

    /// The error of transfers whose connection was shut down.
    static var error: WebImageError {
        WebImageError(.networkConnectionLost, "the server kept the connection busy without sending what was asked for")
    }

    @Sendable private static func readByteCount(_ socket: Int32) -> UInt64? {
        var count: UInt64 = 0
        return webimage_socket_read_count(socket, &count) ? count : nil
    }

    // MARK: From the loop's thread

    func socketOpened(_ socket: Int32) { state.withLock { $0.sockets[socket] = .some(nil) } }

    /// Closes a socket, so that it cannot be shut down when its number has another owner.
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

    /// Local ports of the connections that were shut down. Which call finds out is libcurl's affair, so one is told as long as it is open,
    /// and once more.
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

    /// libcurl has handed out so many bytes of heads and bodies.
    func noteContent(byteCount: Int) { contentByteCount.add(byteCount) }

    // MARK: From elsewhere

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
