/// Transfers over libcurl: HTTP/1.1 and HTTP/2 with kept connections, on one thread of its own that starts with the first
/// transfer.
///
/// What a downloader uses unless it is made with another transport; public for transports that pass requests on to it.
public final class CurlTransport: HTTPTransport {
    private let loop: CurlLoop

    /// A transport with connections of its own.
    public convenience init() { self.init(clock: .system) }

    /// - Parameter resolver: says where hosts are, in place of the system's name service.
    package init(clock: ClockSource = .system, maximumIdleConnectionCount: Int = 64, resolver: HostResolver? = nil) {
        loop = CurlLoop(clock: clock, maximumIdleConnectionCount: maximumIdleConnectionCount, resolver: resolver)
    }

    deinit { loop.stop() }

    /// Starts a transfer; the sink is called on the network thread.
    public func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        let transfer = CurlTransfer(request, sink: sink, loop: loop)
        if !loop.start(transfer) {
            transfer.finish(with: WebImageError(.invalidDownloadOperation, "the downloader was invalidated"))
        }
        return transfer
    }

    /// Ends the network thread after the transfers under way.
    public func invalidate() { loop.stop() }

    /// True: every address is checked when its connection is made, and again before each request.
    public var checksAddresses: Bool { true }
}
