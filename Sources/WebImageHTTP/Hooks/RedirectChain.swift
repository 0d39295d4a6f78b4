import FoundationEssentials

/// Accounts for the limits that the earlier requests of a download have used up: requests that were redirected, or that asked for
/// the rest of a body when the whole was needed. Pure.
struct RedirectChain: Sendable {
    /// The followed redirects, within their limit.
    private(set) var hops: [HTTPExchange.Hop] = []
    /// The URL of the first redirect response; nil if there was none.
    private(set) var origin: URL?
    private var elapsed = 0.0
    private var headByteCount = 0
    private var fieldCount = 0
    private var receivedByteCount: Int64 = 0
    private var wasHedged = false
    /// The counts of the current request's redirect head, which are already included.
    private var noted = DownloadMetrics.Heads()

    /// The number of followed redirects.
    var count: Int { hops.count }

    /// Records a redirect that is followed.
    mutating func note(_ response: HTTPResponse) {
        if origin == nil { origin = response.url }
        hops.append(HTTPExchange.Hop(statusCode: response.statusCode, headers: response.headers))
        noted.fieldCount = response.headers.fields.count
        noted.byteCount = response.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        fieldCount += noted.fieldCount
        headByteCount += noted.byteCount
    }

    /// Records the duration, the heads and the body size of a request that another one follows.
    mutating func note(_ metrics: DownloadMetrics) {
        elapsed += metrics.total
        wasHedged = wasHedged || metrics.wasHedged
        // In addition to the redirect's head, there may be interim ones. Not every transport reports them.
        headByteCount += max(metrics.heads.value.byteCount - noted.byteCount, 0)
        fieldCount += max(metrics.heads.value.fieldCount - noted.fieldCount, 0)
        noted = DownloadMetrics.Heads()
        receivedByteCount = receivedByteCount.adding(clamped: max(metrics.receivedByteCount, 0))
    }

    /// Subtracts the used amounts from the limits of the next request.
    ///
    /// - Throws: ``WebImageError/Code/timedOut`` if no time remains.
    func bound(_ request: inout HTTPTransferRequest) throws(WebImageError) {
        guard count > 0 || elapsed > 0 else { return }
        request.maximumHeaderByteCount = max(request.maximumHeaderByteCount - headByteCount, 0)
        request.maximumHeaderCount = max(request.maximumHeaderCount - fieldCount, 0)
        guard request.totalTimeout > 0 else { return }
        guard elapsed < request.totalTimeout else {
            throw WebImageError(.timedOut, "the download took longer than \(request.totalTimeout) s")
        }
        request.totalTimeout -= elapsed
    }

    /// Returns the timings of the whole download; `metrics` are those of its last request.
    func completed(_ metrics: DownloadMetrics) -> DownloadMetrics {
        guard count > 0 || elapsed > 0 || receivedByteCount > 0 else { return metrics }
        var metrics = metrics
        metrics.redirectCount += count
        metrics.wasHedged = metrics.wasHedged || wasHedged
        metrics.receivedByteCount = receivedByteCount.adding(clamped: max(metrics.receivedByteCount, 0))
        metrics.delay(by: elapsed)
        return metrics
    }
}
