/// Transfers over libcurl: HTTP/1.1 and HTTP/2 with kept connections, on one thread of its own that starts with the first
/// transfer.
final class CurlTransport: HTTPTransport {
    private let loop: CurlLoop

    init(clock: ClockSource = .system, maximumIdleConnectionCount: Int = 64) {
        loop = CurlLoop(clock: clock, maximumIdleConnectionCount: maximumIdleConnectionCount)
    }

    deinit { loop.stop() }

    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        let transfer = CurlTransfer(request, sink: sink, loop: loop)
        if !loop.start(transfer) {
            transfer.finish(with: WebImageError(.invalidDownloadOperation, "the downloader was invalidated"))
        }
        return transfer
    }

    func invalidate() { loop.stop() }
}
