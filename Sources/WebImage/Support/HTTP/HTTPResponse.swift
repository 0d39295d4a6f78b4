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
    /// How and when it was asked for; nil when nobody said. Not looked at when responses are compared.
    var exchange: HTTPExchange?

    /// A response.
    public init(url: URL, statusCode: Int, httpVersion: String = "1.1", headers: HTTPHeaders = [:]) {
        self.url = url
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        self.headers = headers
    }

    /// Whether two responses are the same, however they were asked for.
    public static func == (left: HTTPResponse, right: HTTPResponse) -> Bool {
        left.statusCode == right.statusCode && left.url == right.url && left.httpVersion == right.httpVersion
            && left.headers == right.headers
    }

    /// Feeds the response's own properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(statusCode)
        hasher.combine(httpVersion)
        hasher.combine(headers)
    }

    /// Type and subtype of the body in lower case, without parameters; nil when the response does not say.
    public var mimeType: String? {
        guard let value = headers["Content-Type"] else { return nil }
        let essence = value.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let trimmed = String(decoding: essence.filter { $0 > 32 }, as: UTF8.self).lowercased()
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The `Content-Length`: bytes of the body as they come over the wire; nil when missing or not a number.
    public var contentLength: Int64? {
        guard let value = headers["Content-Length"] else { return nil }
        let first = value.utf8.prefix { $0 != UInt8(ascii: ",") }
        guard let length = Int64(String(decoding: first, as: UTF8.self)), length >= 0 else { return nil }
        return length
    }

    /// How many bytes the body has once its content coding is undone; nil when the response does not say.
    public var expectedByteCount: Int64? {
        if let coding = headers["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        if headers["Transfer-Encoding"] != nil { return nil }
        return contentLength
    }
}
