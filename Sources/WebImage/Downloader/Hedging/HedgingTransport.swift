/// A transport that sends slow requests a second time, over another one.
///
/// What has no ``HTTPTransferRequest/hedgeDelay``, or is no plain GET, goes through as it is.
final class HedgingTransport: HTTPTransport {
    /// The transfers that may be hedged.
    struct Budget {
        private(set) var running = 0
        private(set) var hedges = 0

        mutating func begin() { running += 1 }
        mutating func end() { running -= 1 }

        /// Takes one of the second requests that may be under way: one in ten, and at least one.
        mutating func takeHedge() -> Bool {
            guard hedges < max(running / 10, 1) else { return false }
            hedges += 1
            return true
        }

        mutating func returnHedge() { hedges -= 1 }
    }

    let inner: any HTTPTransport
    let delays: DelaySource
    private let budget = Lock(Budget())

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

    /// Changes the account of what is under way.
    func account<Result>(_ change: (inout Budget) -> Result) -> Result { budget.withLock(change) }
}
