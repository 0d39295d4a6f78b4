public import FoundationEssentials

/// Modifies requests before they are sent, or prevents them.
///
/// Request coalescing compares the object: loads with different modifiers do not share a download, so make one and keep it.
public final class DownloadRequestModifier: Sendable {
    /// The synchronous or asynchronous closure.
    package enum Body: Sendable {
        case immediate(@Sendable (DownloadRequest) -> DownloadRequest?)
        case asynchronous(@Sendable (DownloadRequest) async -> DownloadRequest?)
    }

    package let body: Body

    /// Creates a modifier from a closure.
    ///
    /// - Parameter body: called once for each attempt, on the thread that starts it; must be quick. If it returns nil, the download
    ///   fails with ``WebImageError/Code/invalidDownloadOperation``.
    public init(_ body: @escaping @Sendable (DownloadRequest) -> DownloadRequest?) { self.body = .immediate(body) }

    /// Creates a modifier from an asynchronous closure, for example one that fetches a token.
    ///
    /// - Parameter body: called once for each attempt, in a separate task. If it returns nil, the download fails with
    ///   ``WebImageError/Code/invalidDownloadOperation``.
    public init(asynchronously body: @escaping @Sendable (DownloadRequest) async -> DownloadRequest?) {
        self.body = .asynchronous(body)
    }

    /// Creates a modifier that sets the method (GET if nil) and the body (none if nil), and replaces fields of the same names with
    /// `headers`.
    public convenience init(method: String? = nil, headers: HTTPHeaders = [:], body: Data? = nil) {
        self.init { request in
            var request = request
            request.method = method ?? "GET"
            request.headers = request.headers.overlaid(with: headers)
            request.body = body
            return request
        }
    }

    /// Returns the request to send in place of `request`, or nil to send none.
    public func modifiedRequest(for request: DownloadRequest) async -> DownloadRequest? {
        switch body {
        case .immediate(let body): body(request)
        case .asynchronous(let body): await body(request)
        }
    }
}
