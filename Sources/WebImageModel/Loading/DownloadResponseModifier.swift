/// Changes a response before it is looked at, or refuses it.
///
/// Loads with different modifiers do not share a download: it is the object that counts, so make one and keep it.
public final class DownloadResponseModifier: Sendable {
    private let body: @Sendable (HTTPResponse) -> HTTPResponse?

    /// A modifier of a closure.
    ///
    /// - Parameter body: asked on the network thread; must be quick. A nil answer ends the download with
    ///   ``WebImageError/Code/invalidDownloadResponse``.
    public init(_ body: @escaping @Sendable (HTTPResponse) -> HTTPResponse?) { self.body = body }

    /// A modifier that sets status and version, each only if given, and puts `headers` in place of fields of the same names.
    public convenience init(statusCode: Int? = nil, httpVersion: String? = nil, headers: HTTPHeaders = [:]) {
        self.init { response in
            var response = response
            if let statusCode { response.statusCode = statusCode }
            if let httpVersion { response.httpVersion = httpVersion }
            response.headers = response.headers.overlaid(with: headers)
            return response
        }
    }

    /// What is taken for the response, or nil to refuse it.
    public func modifiedResponse(for response: HTTPResponse) -> HTTPResponse? { body(response) }
}
