/// A transport that sends slow requests a second time, over another one.
///
/// What has no ``HTTPTransferRequest/hedgeDelay``, or is no plain GET, goes through as it is.
final class HedgingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let delays: DelaySource
    /// Of the transfers that may be hedged, how many are under way, and how many second requests.
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

    /// Notes that a transfer begins, or ends.
    func count(_ change: Int) { counts.withLock { $0.transfers += change } }

    /// Takes one of the second requests that may be under way: one in ten, and at least one.
    func takeHedge() -> Bool {
        counts.withLock { counts in
            guard counts.hedges < max(counts.transfers / 10, 1) else { return false }
            counts.hedges += 1
            return true
        }
    }

    func returnHedge() { counts.withLock { $0.hedges -= 1 } }
}

/// A transfer of which there may be two: who answers first goes on, the other is cancelled. To its sink it is one.
final class HedgedTransfer: HTTPTransfer {
    /// One of the two requests, as the transport's sink.
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
        /// Who answers; nil until the first head.
        var winner: Leg?
        var isOver = false
        /// Whether a second request was sent.
        var wasHedged = false
        /// What the first to fail ended with, while the other may still answer.
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

    // MARK: From outside

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
        // The other was answered, or all is over, before there was something to cancel.
        if !isWanted { transfer.cancel() }
    }

    /// The time has come for a second request.
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

    // MARK: From the two

    /// Whether what comes for `leg` is the sink's: it has answered first, or does so now.
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
                // The other may still answer.
                state.failure = last
                return false
            }
            // Both have failed: the first request's failure is told.
            if leg.isHedge { last = first }
            return true
        }
        guard let former else { return }
        last.metrics.wasHedged = former.wasHedged
        if former.winner?.isHedge == true { last.metrics.delay(by: delay) }
        sink.didFinish(last.error, metrics: last.metrics)
    }

    /// Ends it, if it has not ended and `condition` holds. The state before.
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
    /// Counts from so many seconds earlier.
    mutating func delay(by seconds: Double) {
        for part in [\DownloadMetrics.domainLookup, \.connect, \.secureConnect, \.firstByte]
        where self[keyPath: part] > 0 { self[keyPath: part] += seconds }
        total += seconds
    }
}
