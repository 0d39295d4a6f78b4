/// A transport that hedges slow requests: it sends a second, identical request and uses the first response.
///
/// Requests without ``HTTPTransferRequest/hedgeDelay``, and all but plain GETs, are passed through.
final class HedgingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let delays: DelaySource
    /// The number of running transfers that may be hedged, and of running hedges.
    let counts = Lock((transfers: 0, hedges: 0))

    init(_ inner: any HTTPTransport, delays: DelaySource) {
        self.inner = inner
        self.delays = delays
    }

    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        guard let delay = request.hedgeDelay, delay >= 0, request.isPlainGet else {
            return inner.start(request, sink: sink)
        }
        let transfer = HedgedTransfer(request, delay: delay, sink: sink, transport: self)
        transfer.begin()
        return transfer
    }

    func invalidate() { inner.invalidate() }

    var checksAddresses: Bool { inner.checksAddresses }

    /// Counts the start or the end of a transfer.
    func count(_ change: Int) { counts.withLock { $0.transfers += change } }

    /// Reserves a hedge. At most one in ten running transfers may be hedged at a time, but always one.
    func takeHedge() -> Bool {
        counts.withLock { counts in
            guard counts.hedges < max(counts.transfers / 10, 1) else { return false }
            counts.hedges += 1
            return true
        }
    }

    func returnHedge() { counts.withLock { $0.hedges -= 1 } }
}

/// A transfer of up to two requests: the first response wins, the other request is cancelled. The sink sees one transfer.
final class HedgedTransfer: HTTPTransfer {
    /// One of the two requests, as the inner transport's sink.
    final class Leg: HTTPTransferSink {
        let isHedge: Bool
        private let owner: HedgedTransfer

        init(_ owner: HedgedTransfer, isHedge: Bool) {
            self.owner = owner
            self.isHedge = isHedge
        }

        func didReceive(_ response: HTTPResponse) -> WebImageError? {
            guard owner.decide(for: self) else { return HedgedTransfer.refusal }
            return owner.sink.didReceive(response)
        }

        func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
            guard owner.decide(for: self) else { return HedgedTransfer.refusal }
            return owner.sink.didReceive(bytes)
        }

        func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) {
            owner.legDidFinish(self, error, metrics)
        }
    }

    private struct State {
        /// The request that was answered first; nil until the first head.
        var winner: Leg?
        var isOver = false
        /// True once a second request was sent.
        var wasHedged = false
        /// The result of the first request to fail, while the other may still be answered.
        var failure: (error: WebImageError?, metrics: DownloadMetrics)?
        var transfers: [(leg: Leg, transfer: any HTTPTransfer)] = []
        var cancelTimer: (@Sendable () -> Void)?
    }

    static var refusal: WebImageError { WebImageError(.cancelled, "another request was answered first") }

    fileprivate let sink: any HTTPTransferSink
    private let request: HTTPTransferRequest
    private let delay: Double
    private let transport: HedgingTransport
    private let state = Lock(State())

    init(_ request: HTTPTransferRequest, delay: Double, sink: any HTTPTransferSink, transport: HedgingTransport) {
        self.request = request
        self.delay = delay
        self.sink = sink
        self.transport = transport
    }

    // MARK: From the caller

    func begin() {
        transport.count(1)
        start(Leg(self, isHedge: false), request)
        guard state.withLock({ !$0.isOver && $0.winner == nil }) else { return }
        let cancel = transport.delays.after(TransferTimer.nanoseconds(delay)) { [weak self] in self?.hedge() }
        let isWanted = state.withLock { state -> Bool in
            guard !state.isOver, state.winner == nil else { return false }
            state.cancelTimer = cancel
            return true
        }
        if !isWanted { cancel() }
    }

    func cancel() {
        let former = close { _ in true }
        for item in former?.transfers ?? [] { item.transfer.cancel() }
    }

    // MARK: Requests

    private func start(_ leg: Leg, _ request: HTTPTransferRequest) {
        let transfer = transport.inner.start(request, sink: leg)
        let isWanted = state.withLock { state -> Bool in
            guard !state.isOver, state.winner == nil || state.winner === leg else { return false }
            state.transfers.append((leg, transfer))
            return true
        }
        // The other request was answered, or the transfer ended, before this one could be cancelled.
        if !isWanted { transfer.cancel() }
    }

    /// Sends the second request when the hedge delay is over.
    private func hedge() {
        var second = request
        if second.totalTimeout > 0 {
            second.totalTimeout -= delay
            guard second.totalTimeout > 0 else { return }
        }
        let mayStart = state.withLock { state -> Bool in
            guard !state.isOver, state.winner == nil, transport.takeHedge() else { return false }
            state.wasHedged = true
            return true
        }
        if mayStart { start(Leg(self, isHedge: true), second) }
    }

    // MARK: From the requests

    /// Returns whether data for `leg` goes to the sink: it was answered first, or is answered first now.
    fileprivate func decide(for leg: Leg) -> Bool {
        let (isWinner, losers, timer) = state.withLock { state -> (Bool, [any HTTPTransfer], (@Sendable () -> Void)?) in
            guard !state.isOver, state.winner == nil else { return (!state.isOver && state.winner === leg, [], nil) }
            state.winner = leg
            if state.wasHedged { transport.returnHedge() }
            let losers = state.transfers.filter { $0.leg !== leg }
            state.transfers.removeAll { $0.leg !== leg }
            return (true, losers.map(\.transfer), state.cancelTimer.take())
        }
        timer?()
        for loser in losers { loser.cancel() }
        return isWinner
    }

    fileprivate func legDidFinish(_ leg: Leg, _ error: WebImageError?, _ metrics: DownloadMetrics) {
        var last = (error: error, metrics: metrics)
        let former = close { state in
            if let winner = state.winner { return winner === leg }
            state.transfers.removeAll { $0.leg === leg }
            guard state.wasHedged else { return true }
            guard let first = state.failure else {
                // The other request may still be answered.
                state.failure = last
                return false
            }
            // Both have failed: the first request's failure is reported.
            if leg.isHedge { last = first }
            return true
        }
        guard let former else { return }
        last.metrics.wasHedged = former.wasHedged
        if former.winner?.isHedge == true { last.metrics.delay(by: delay) }
        sink.didFinish(last.error, metrics: last.metrics)
    }

    /// Ends the transfer if it has not ended and `condition` holds. Returns the state before.
    private func close(_ condition: (inout State) -> Bool) -> State? {
        let former = state.withLock { state -> State? in
            guard !state.isOver, condition(&state) else { return nil }
            defer {
                state = State()
                state.isOver = true
            }
            if state.wasHedged, state.winner == nil { transport.returnHedge() }
            transport.count(-1)
            return state
        }
        former?.cancelTimer?()
        return former
    }
}

extension DownloadMetrics {
    /// Shifts the timings to start `seconds` earlier.
    mutating func delay(by seconds: Double) {
        for part in [\DownloadMetrics.domainLookup, \.connect, \.secureConnect, \.firstByte]
        where self[keyPath: part] > 0 { self[keyPath: part] += seconds }
        total += seconds
    }
}
