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
    package func modifiedRequest(for request: DownloadRequest) async -> DownloadRequest? {
        switch body {
        case .immediate(let body): body(request)
        case .asynchronous(let body): await body(request)
        }
    }
}

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
    package func modifiedResponse(for response: HTTPResponse) -> HTTPResponse? { body(response) }
}

/// Converts a downloaded body into the bytes of an image. Caches store the result.
///
/// Request coalescing compares the object: loads with different decryptors do not share a download, so make one and keep it.
public final class DownloadDecryptor: Sendable {
    private let body: @Sendable (Data, HTTPResponse?) throws -> Data?

    /// Creates a decryptor from a closure.
    ///
    /// - Parameter body: called on a decode thread with the whole body. If it returns nil or throws, the download fails with
    ///   ``WebImageError/Code/badImageData``.
    public init(_ body: @escaping @Sendable (_ data: Data, _ response: HTTPResponse?) throws -> Data?) {
        self.body = body
    }

    /// Returns the bytes of the image, or nil if there are none.
    package func decrypted(_ data: Data, response: HTTPResponse?) throws -> Data? { try body(data, response) }

    /// Decodes Base64, ignoring white space and other characters.
    public static let base64 = DownloadDecryptor { data, _ in
        Data(base64Encoded: data, options: .ignoreUnknownCharacters)
    }
}

/// Decides how redirects are handled.
///
/// Request coalescing compares the object: loads with different handlers do not share a download, so make one and keep it.
public final class DownloadRedirectHandler: Sendable {
    /// The action for a redirect.
    public enum Decision: Sendable {
        /// Send this request.
        case follow(DownloadRequest)
        /// Use the redirect response as the final one; its status is then checked like any other.
        case stop
        /// End the download with this error.
        case fail(WebImageError)
    }

    private let body: @Sendable (HTTPResponse, DownloadRequest) -> Decision

    /// Creates a handler from a closure.
    ///
    /// - Parameter body: called on the network thread for each redirect that the limits allow, with the response and the request
    ///   that would follow; must be quick.
    public init(_ body: @escaping @Sendable (_ response: HTTPResponse, _ next: DownloadRequest) -> Decision) {
        self.body = body
    }

    /// Returns the action after `response`, when `next` would follow.
    package func decision(for response: HTTPResponse, next: DownloadRequest) -> Decision { body(response, next) }
}
