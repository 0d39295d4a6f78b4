import FoundationEssentials

/// What the requests before the last one of a download have used up of its bounds, where it is sent elsewhere, or the whole is asked for
/// in place of the rest: a pure account.
struct RedirectChain: Sendable {
    /// The redirects followed: no more than their bounds allow.
    private(set) var hops: [HTTPExchange.Hop] = []
    /// Where the first redirect was; nil before it.
    private(set) var origin: URL?
    private var elapsed = 0.0
    private var headByteCount = 0
    private var fieldCount = 0
    private var receivedByteCount: Int64 = 0
    private var wasHedged = false
    /// What the present request's part of these is that its redirect alone makes up.
    private var noted = DownloadMetrics.Heads()

    /// How many were followed.
    var count: Int { hops.count }

    /// Notes a redirect that is followed.
    mutating func note(_ response: HTTPResponse) {
        if origin == nil { origin = response.url }
        hops.append(HTTPExchange.Hop(statusCode: response.statusCode, headers: response.headers))
        noted.fieldCount = response.headers.fields.count
        noted.byteCount = response.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        fieldCount += noted.fieldCount
        headByteCount += noted.byteCount
    }

    /// Notes how long a request took that another one follows, what its heads were, and what came of its body.
    mutating func note(_ metrics: DownloadMetrics) {
        elapsed += metrics.total
        wasHedged = wasHedged || metrics.wasHedged
        // Besides the head that redirects there may be interim ones. Not every transport tells of them.
        headByteCount += max(metrics.heads.value.byteCount - noted.byteCount, 0)
        fieldCount += max(metrics.heads.value.fieldCount - noted.fieldCount, 0)
        noted = DownloadMetrics.Heads()
        receivedByteCount = receivedByteCount.adding(clamped: max(metrics.receivedByteCount, 0))
    }

    /// Takes from the bounds of the next request what is used up.
    ///
    /// - Throws: ``WebImageError/Code/timedOut`` when no time is left.
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

    /// The timings of the whole download; `metrics` are those of its last request.
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
