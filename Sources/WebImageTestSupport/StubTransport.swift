public import FoundationEssentials
import Glibc
public import WebImage
public import WebImageFakes

/// An HTTP transport that answers from a script: no request leaves the process.
///
/// Create a manager with it (``WebImage/WebImageManager/init(stub:config:)``). Retries, redirects, progress and the checks of responses are
/// those of the library's downloader. A request that the script does not contain fails at once and is reported. Thread-safe.
public final class StubTransport: HTTPTransport {
    private struct State {
        var responses: [URL: [StubResponse]] = [:]
        var requests: [HTTPTransferRequest] = []
    }

    /// The clock of delayed responses, retries and the freshness of cached images.
    public let clock: ManualClock
    private let state = Lock(State())
    private let onUnexpectedRequest: (@Sendable (HTTPTransferRequest) -> Void)?

    /// Creates a transport without responses.
    ///
    /// - Parameters:
    ///   - clock: The clock; several transports can share one.
    ///   - onUnexpectedRequest: Called on any thread with each request that has no response, before it fails with
    ///     ``WebImageError/Code/invalidDownloadOperation``: record an issue of your test framework. If nil, a line is written to standard error.
    public init(
        clock: ManualClock = ManualClock(),
        onUnexpectedRequest: (@Sendable (HTTPTransferRequest) -> Void)? = nil
    ) {
        self.clock = clock
        self.onUnexpectedRequest = onUnexpectedRequest
    }

    /// Scripts the responses for a URL, in place of earlier ones. Each request takes the next; the last one is repeated.
    public func respond(to url: URL, with responses: StubResponse...) {
        state.withLock { $0.responses[url] = responses.isEmpty ? nil : responses }
    }

    /// All requests so far, also those that failed, with their header fields.
    public var requests: [HTTPTransferRequest] { state.withLock { $0.requests } }

    /// Records the request, and sends the next response of its URL: before this call returns unless it is delayed.
    public func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        let transfer = StubTransfer(request, sink)
        let response = state.withLock { state -> StubResponse? in
            state.requests.append(request)
            guard var left = state.responses[request.url], let next = left.first else { return nil }
            if left.count > 1 {
                left.removeFirst()
                state.responses[request.url] = left
            }
            return next
        }
        guard let response else {
            report(request)
            let words = "no response is scripted: call respond(to:with:)"
            transfer.finish(WebImageError(.invalidDownloadOperation, words, url: request.url))
            return transfer
        }
        guard response.delay > 0 else {
            transfer.send(response)
            return transfer
        }
        let nanoseconds = UInt64(min(response.delay, 1e9) * 1e9)
        transfer.holdUntilCancelled(clock.delays.after(nanoseconds) { transfer.send(response) })
        return transfer
    }

    private func report(_ request: HTTPTransferRequest) {
        if let onUnexpectedRequest { return onUnexpectedRequest(request) }
        let line = Array("StubTransport: no response for \(request.url.absoluteString)\n".utf8)
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    /// Does nothing: transfers that have started end as scripted.
    public func invalidate() {}
}

/// A transfer of a ``StubTransport``.
private final class StubTransfer: HTTPTransfer {
    private struct State {
        var isCancelled = false
        var cancelDelay: (@Sendable () -> Void)?
    }

    private let request: HTTPTransferRequest
    private let sink: any HTTPTransferSink
    private let state = Lock(State())

    init(_ request: HTTPTransferRequest, _ sink: any HTTPTransferSink) { (self.request, self.sink) = (request, sink) }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        let cancelDelay = state.withLock { state in
            state.isCancelled = true
            defer { state.cancelDelay = nil }
            return state.cancelDelay
        }
        cancelDelay?()
    }

    /// Keeps the closure that cancels the response's delay, or calls it if the transfer is already cancelled.
    func holdUntilCancelled(_ cancelDelay: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isCancelled { state.cancelDelay = cancelDelay }
            return state.isCancelled
        }
        if isLate { cancelDelay() }
    }

    func finish(_ error: WebImageError?) { sink.didFinish(error, metrics: DownloadMetrics()) }

    func send(_ response: StubResponse) {
        guard !isCancelled else { return }
        switch response.content {
        case .failure(let code): finish(WebImageError(code, "scripted failure", url: request.url))
        case .response(let statusCode, let headers, let body):
            let head = HTTPResponse(url: request.url, statusCode: statusCode, headers: headers)
            if let refusal = sink.didReceive(head) { return finish(refusal) }
            let count = min(response.partCount, max(body.count, 1))
            for part in 0..<count {
                let bytes = body.dropFirst(body.count * part / count).prefix(
                    body.count * (part + 1) / count - body.count * part / count
                )
                guard !isCancelled else { return }
                if let error = bytes.withUnsafeBytes({ $0.isEmpty ? nil : sink.didReceive($0) }) {
                    return finish(error)
                }
            }
            finish(nil)
        }
    }
}
