/// A transport over libcurl: HTTP/1.1 and HTTP/2 with persistent connections, on one dedicated thread that starts with the first
/// transfer.
///
/// The default transport of a downloader; public for transports that forward requests to it.
public final class CurlTransport: HTTPTransport {
    private let loop: CurlLoop

    /// Creates a transport with a separate connection pool.
    public convenience init() { self.init(clock: .system) }

    /// - Parameter resolver: returns the addresses of hosts, in place of the system's resolver.
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

    /// Ends the network thread after the running transfers.
    public func invalidate() { loop.stop() }

    /// True: every address is checked when its connection is opened, and again before each request.
    public var checksAddresses: Bool { true }
}
