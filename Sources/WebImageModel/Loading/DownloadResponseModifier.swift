/// Modifies responses before they are evaluated, or refuses them.
///
/// Request coalescing compares the object: loads with different modifiers do not share a download, so make one and keep it.
public final class DownloadResponseModifier: Sendable {
    private let body: @Sendable (HTTPResponse) -> HTTPResponse?

    /// Creates a modifier from a closure.
    ///
    /// - Parameter body: called on the network thread; must be quick. If it returns nil, the download fails with
    ///   ``WebImageError/Code/invalidDownloadResponse``.
    public init(_ body: @escaping @Sendable (HTTPResponse) -> HTTPResponse?) { self.body = body }

    /// Creates a modifier that sets status and version, each only if given, and replaces fields of the same names with `headers`.
    public convenience init(statusCode: Int? = nil, httpVersion: String? = nil, headers: HTTPHeaders = [:]) {
        self.init { response in
            var response = response
            if let statusCode { response.statusCode = statusCode }
            if let httpVersion { response.httpVersion = httpVersion }
            response.headers = response.headers.overlaid(with: headers)
            return response
        }
    }

    /// Returns the response to use, or nil to refuse it.
    public func modifiedResponse(for response: HTTPResponse) -> HTTPResponse? { body(response) }
}
