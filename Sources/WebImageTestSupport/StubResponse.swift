public import FoundationEssentials
public import WebImage

/// An answer of a ``StubTransport``.
public struct StubResponse: Sendable {
    enum Content: Sendable {
        case response(statusCode: Int, headers: HTTPHeaders, body: Data)
        case failure(WebImageError.Code)
    }

    let content: Content
    /// The seconds until it is sent.
    var delay = 0.0
    /// The number of parts of the body.
    var partCount = 1

    private init(_ content: Content) { self.content = content }

    /// An image in a file of the given format, with status 200; an animated image with all frames.
    ///
    /// - Throws: ``WebImageError/Code/unsupportedFormat`` if no coder of ``ImageCodersManager/shared`` writes the format, and its errors.
    public static func image(_ image: Image, format: ImageFormat = .png) throws(WebImageError) -> StubResponse {
        let (coder, options) = (ImageCodersManager.shared, ImageEncodeOptions())
        guard let animation = image.animation else {
            return .data(try coder.encode(image, to: format, options: options))
        }
        return .data(try coder.encode(animation, to: format, options: options))
    }

    /// A response with any body: a file, damaged bytes, a redirect or a response with caching headers.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - statusCode: The HTTP status.
    ///   - headers: The header fields; `Content-Length` is added unless there is one.
    public static func data(_ data: Data, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        var headers = headers
        if headers["Content-Length"] == nil, statusCode != 304 { headers["Content-Length"] = "\(data.count)" }
        return StubResponse(.response(statusCode: statusCode, headers: headers, body: data))
    }

    /// A response without a body, such as 404 or 503.
    public static func status(_ statusCode: Int, headers: HTTPHeaders = [:]) -> StubResponse {
        .data(Data(), statusCode: statusCode, headers: headers)
    }

    /// No response: the transfer fails with this code, for example ``WebImageError/Code/networkConnectionLost``.
    public static func failure(_ code: WebImageError.Code) -> StubResponse { StubResponse(.failure(code)) }

    /// Returns the same answer, sent when the transport's clock has advanced by this many seconds after the request.
    public func delayed(by seconds: Double) -> StubResponse {
        var response = self
        response.delay = max(seconds, 0)
        return response
    }

    /// Returns the same answer with its body in parts of about equal size, each of which is reported as progress.
    public func inParts(_ count: Int) -> StubResponse {
        var response = self
        response.partCount = max(count, 1)
        return response
    }
}
