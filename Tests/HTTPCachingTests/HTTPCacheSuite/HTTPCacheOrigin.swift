import TestSupport
import WebImage

/// The origin of one case. It responds to each step as the case says, counts its requests, and sends a 304 where the
/// case expects a conditional request and the request has the validators of the step before.
final class HTTPCacheOrigin: Sendable {
    /// A request and its response.
    struct Exchange: Sendable {
        /// The step in which it arrived, from 0.
        var step: Int
        var request: HTTPHeaders
        /// nil when the connection was closed.
        var status: Int?
    }

    /// The response to send.
    struct Reply: Sendable {
        /// nil to close the connection.
        var status: Int?
        var fields: [HTTPCacheCase.Field]
        var body: [UInt8]
        var interimStatus: Int?
        var interimFields: [HTTPCacheCase.Field]
    }

    private struct State {
        var step = 0
        var exchanges: [Exchange] = []
        /// The fields of the steps, as they were sent, or would have been when their step began.
        var fields: [[HTTPCacheCase.Field]] = []
    }

    let steps: [HTTPCacheCase.Step]
    let clock: ManualClock
    private let state = Lock(State())

    init(_ test: HTTPCacheCase, clock: ManualClock) { (steps, self.clock) = (test.steps, clock) }

    /// The image of a step. Its width in pixels is the number of the step, counted from one.
    static func body(ofStep step: Int) -> [UInt8] { PNGBomb.make(width: step + 1, height: 1) }

    var exchanges: [Exchange] { state.withLock { $0.exchanges } }

    /// Begins a step: later requests belong to it.
    func begin(_ step: Int) {
        let fields = render(steps[step].answer.fields, now: clock.wallTime)
        state.withLock { state in
            state.step = step
            state.fields.append(fields)
        }
    }

    /// Returns a value with its dates filled in.
    func render(_ fields: [HTTPCacheCase.Field], now: Double) -> [HTTPCacheCase.Field] {
        fields.map { HTTPCacheCase.Field(name: $0.name, value: HTTPCacheText.filled($0.value, now: now)) }
    }

    func reply(to request: HTTPHeaders) -> Reply {
        let (step, before) = state.withLock { ($0.step, $0.step > 0 ? $0.fields[$0.step - 1] : []) }
        let answer = steps[step].answer
        clock.advance(answer.delay)
        let fields = render(answer.fields, now: clock.wallTime)
        var status: Int? = answer.closes ? nil : answer.status
        if status != nil, isValidated(steps[step].expectation, by: request, before) { status = 304 }
        state.withLock { state in
            state.fields[step] = fields
            state.exchanges.append(Exchange(step: step, request: request, status: status))
        }
        let hasBody = status != 304 && status != 204
        return Reply(
            status: status,
            fields: fields,
            body: hasBody ? Self.body(ofStep: step) : [],
            interimStatus: answer.interimStatus,
            interimFields: answer.interimFields
        )
    }

    private func isValidated(
        _ expectation: HTTPCacheCase.Expectation,
        by request: HTTPHeaders,
        _ before: [HTTPCacheCase.Field]
    ) -> Bool {
        guard expectation == .etag || expectation == .modified else { return false }
        let isSame = { (name: String, condition: String) in
            guard let value = before.last(where: { HTTPHeaders.equal($0.name, name) })?.value else { return false }
            return request[condition] == value
        }
        return isSame("ETag", "If-None-Match") || isSame("Last-Modified", "If-Modified-Since")
    }
}

extension HTTPCacheOrigin {
    /// Returns the response in the loopback server's form.
    func response(to request: LoopbackRequest) -> LoopbackResponse {
        var fields = HTTPHeaders()
        for (name, value) in request.headers { fields.add(name: name, value: value) }
        let reply = reply(to: fields)
        guard let status = reply.status else { return .closeWithoutAnswer }
        let (head, early) = (reply.fields.map { ($0.name, $0.value) }, reply.interimFields.map { ($0.name, $0.value) })
        return .script { request, connection in
            if let interim = reply.interimStatus { connection.sendHead(interim, early) }
            if head.contains(where: { HTTPHeaders.equal($0.0, "Transfer-Encoding") }) {
                return connection.sendHead(status, head) && connection.sendChunk(reply.body)
                    && connection.send("0\r\n\r\n")
            }
            return LoopbackResponse.response(status, headers: head, body: reply.body).run(request, connection)
        }
    }
}
