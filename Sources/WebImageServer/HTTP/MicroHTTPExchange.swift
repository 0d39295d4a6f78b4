import CMicrohttpd
import Glibc
import WebImage

/// One request and its answer, from the first line to the end.
///
/// libmicrohttpd calls in this order: `begin` with the target, `handle` with the head, `handle` again at the end of the request, which
/// answers or suspends the connection, `handle` once more after it was resumed, `end`.
final class MicroHTTPExchange: @unchecked Sendable {
    // Sendable because `state` is locked, and the other properties are used only on the loop's thread.

    private enum Phase {
        case head
        case ready(HTTPRequest)
        case waiting
        case answered
    }

    private struct State {
        /// The answer that was made while the connection was suspended.
        var answer: HTTPAnswer?
        var operation: (any WebImageOperation)?
        var isCancelled = false
        /// The number among the waiting requests.
        var number: UInt64?
    }

    private let context: MicroHTTPServer.Context
    private let target: String
    private let start = ClockSource.system.monotonicNanoseconds()
    private let state = Lock(State())
    private var phase = Phase.head
    private var summary: HTTPExchangeSummary?

    private init(_ context: MicroHTTPServer.Context, target: String) {
        self.context = context
        self.target = target
        context.busy.add()
        context.total.add()
    }

    // MARK: Callbacks

    private static let yes = webimage_http_result(true)
    /// Closes the connection.
    private static let no = webimage_http_result(false)

    static func begin(_ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer?
    {
        guard let context, let target else { return nil }
        let server = Unmanaged<MicroHTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
        return Unmanaged.passRetained(MicroHTTPExchange(server, target: String(cString: target))).toOpaque()
    }

    static func handle(
        _ context: UnsafeMutableRawPointer?,
        _ connection: OpaquePointer?,
        _ method: UnsafePointer<CChar>?,
        _ version: UnsafePointer<CChar>?,
        _ bodyCount: UnsafeMutablePointer<Int>?,
        _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        guard let connection, let method, let version, let pointer = request?.pointee else { return Self.no }
        let exchange = Unmanaged<MicroHTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
        // The head check lets no body through.
        if let bodyCount, bodyCount.pointee > 0 { return Self.no }
        return exchange.proceed(connection, method: String(cString: method), version: String(cString: version))
    }

    static func end(
        _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        _ code: MHD_RequestTerminationCode
    ) {
        guard let request, let pointer = request.pointee else { return }
        request.pointee = nil
        let exchange = Unmanaged<MicroHTTPExchange>.fromOpaque(pointer).takeRetainedValue()
        exchange.finish(isComplete: webimage_http_is_complete(code))
    }

    // MARK: The course of an exchange

    private func proceed(_ connection: OpaquePointer, method: String, version: String) -> MHD_Result {
        switch phase {
        case .head: return readHead(connection, method: method, version: version)
        case .ready(let request): return answer(request, connection)
        case .waiting:
            guard let answer = state.withLock({ $0.answer }) else { return Self.yes }
            return send(answer, connection)
        case .answered: return Self.yes
        }
    }

    private func readHead(_ connection: OpaquePointer, method: String, version: String) -> MHD_Result {
        let (headers, count) = Self.fields(of: connection, limit: context.headCheck.maximumFieldCount)
        summary = HTTPExchangeSummary(
            method: method,
            target: target,
            client: MicroHTTPPeer.name(of: connection),
            userAgent: headers.firstValue(of: "User-Agent"),
            status: 0,
            byteCount: 0,
            nanoseconds: 0,
            origin: "",
            isComplete: false
        )
        do throws(HeadCheck.Refusal) {
            let (method, path) = try context.headCheck.check(
                method: method,
                target: target,
                version: version,
                headers: headers,
                fieldCount: count
            )
            phase = .ready(
                HTTPRequest(method: method, target: path, headers: headers, client: summary?.client ?? "")
            )
            return Self.yes
        } catch {
            // Answered before a body could be read; what follows on the connection is not looked at.
            var answer = HTTPAnswer.text(error.status, error.reason)
            if error.status == 405 { answer.headers.add(name: "Allow", value: "GET, HEAD, OPTIONS") }
            answer.headers.add(name: "Cache-Control", value: "no-store")
            answer.closes = true
            answer.cause = error.reason
            return send(answer, connection)
        }
    }

    private func answer(_ request: HTTPRequest, _ connection: OpaquePointer) -> MHD_Result {
        switch context.handler.reply(to: request) {
        case .now(let answer): return send(answer, connection)
        case .later(let begin):
            phase = .waiting
            MHD_suspend_connection(connection)
            let number = context.departures.add(self, socket: webimage_http_socket(connection))
            state.withLock { $0.number = number }
            // Valid until the connection is resumed, which happens once.
            let suspended = SuspendedConnection(pointer: connection)
            let operation = begin { [self] answer in complete(answer, suspended) }
            let isCancelled = state.withLock { state in
                if state.answer == nil { state.operation = operation }
                return state.isCancelled
            }
            if isCancelled { operation.cancel() }
            return Self.yes
        }
    }

    private func complete(_ answer: HTTPAnswer, _ connection: SuspendedConnection) {
        let (number, operation) = state.withLock { state -> (UInt64?, (any WebImageOperation)?) in
            guard state.answer == nil else { return (nil, nil) }
            state.answer = answer
            defer { (state.number, state.operation) = (nil, nil) }
            return (state.number, state.operation)
        }
        withExtendedLifetime(operation) {}
        guard let number else { return }
        // Resumed last: afterwards the connection may end at any time.
        context.departures.remove(number, then: { MHD_resume_connection(connection.pointer) })
    }

    /// Cancels the work because nobody waits for the answer.
    func cancel() {
        let operation = state.withLock { state in
            state.isCancelled = true
            return state.operation
        }
        operation?.cancel()
    }

    private func send(_ answer: HTTPAnswer, _ connection: OpaquePointer) -> MHD_Result {
        phase = .answered
        let closes = answer.closes || context.isQuiesced.withLock({ $0 })
        guard let response = MicroHTTPResponse.made(of: answer, closes: closes) else { return Self.no }
        defer { withExtendedLifetime(response) {} }
        summary?.status = answer.status
        let isHead = summary?.method == "HEAD"
        summary?.byteCount = isHead ? 0 : answer.sentRange.count
        summary?.origin = answer.origin
        summary?.cause = answer.cause
        return MHD_queue_response(connection, UInt32(answer.status), response.pointer)
    }

    private func finish(isComplete: Bool) {
        defer { context.busy.add(-1) }
        guard var summary else { return }
        summary.nanoseconds = ClockSource.system.monotonicNanoseconds() - start
        summary.isComplete = isComplete
        context.handler.ended(summary)
    }

    private static func fields(of connection: OpaquePointer, limit: Int) -> (HTTPHeaders, Int) {
        var headers = HTTPHeaders()
        let count = withUnsafeTemporaryAllocation(of: webimage_http_field.self, capacity: limit) { fields in
            let count = webimage_http_fields(connection, fields.baseAddress, limit)
            headers.reserveCapacity(min(count, limit))
            for field in fields.prefix(min(count, limit)) {
                headers.add(name: text(field.name, field.name_count), value: text(field.value, field.value_count))
            }
            return count
        }
        return (headers, count)
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

/// A connection that waits for its answer.
private struct SuspendedConnection: @unchecked Sendable {
    // Sendable because it is used once, by the thread that has the answer.
    let pointer: OpaquePointer
}
