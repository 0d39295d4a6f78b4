public import FoundationEssentials

/// The final response of a download, redirects followed.
public struct HTTPResponse: Sendable, Hashable {
    /// Where the response came from, after redirects.
    public var url: URL
    /// The status, for example 200.
    public var statusCode: Int
    /// "1.0", "1.1", "2" or "3".
    public var httpVersion: String
    /// The fields of the final response.
    public var headers: HTTPHeaders

    /// A response.
    public init(url: URL, statusCode: Int, httpVersion: String = "1.1", headers: HTTPHeaders = [:]) {
        self.url = url
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        self.headers = headers
    }
}
