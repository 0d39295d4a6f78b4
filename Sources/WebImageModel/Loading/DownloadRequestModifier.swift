public import FoundationEssentials

/// Changes what is sent, or forbids it.
///
/// Loads with different modifiers do not share a download: it is the object that counts, so make one and keep it.
public final class DownloadRequestModifier: Sendable {
    /// How the closure answers.
    package enum Body: Sendable {
        case immediate(@Sendable (DownloadRequest) -> DownloadRequest?)
        case asynchronous(@Sendable (DownloadRequest) async -> DownloadRequest?)
    }

    package let body: Body

    /// A modifier of a closure.
    ///
    /// - Parameter body: asked once for each attempt, on the thread that starts it; must be quick. A nil answer ends the
    ///   download with ``WebImageError/Code/invalidDownloadOperation``.
    public init(_ body: @escaping @Sendable (DownloadRequest) -> DownloadRequest?) { self.body = .immediate(body) }

    /// A modifier of an asynchronous closure, for example one that fetches a token.
    ///
    /// - Parameter body: asked once for each attempt, in a task of its own. A nil answer ends the download with
    ///   ``WebImageError/Code/invalidDownloadOperation``.
    public init(asynchronously body: @escaping @Sendable (DownloadRequest) async -> DownloadRequest?) {
        self.body = .asynchronous(body)
    }

    /// A modifier that sets method (GET if nil) and body, also to none, and puts `headers` in place of fields of the same
    /// names.
    public convenience init(method: String? = nil, headers: HTTPHeaders = [:], body: Data? = nil) {
        self.init { request in
            var request = request
            request.method = method ?? "GET"
            request.headers = request.headers.overlaid(with: headers)
            request.body = body
            return request
        }
    }

    /// What is to be sent in place of `request`, or nil for nothing.
    public func modifiedRequest(for request: DownloadRequest) async -> DownloadRequest? {
        switch body {
        case .immediate(let body): body(request)
        case .asynchronous(let body): await body(request)
        }
    }
}
