public import FoundationEssentials

/// The final response of a download, after redirects.
public struct HTTPResponse: Sendable, Hashable {
    /// The URL of the response, after redirects.
    public var url: URL {
        get { storage.value.url }
        set { values.url = newValue }
    }
    /// The status, for example 200.
    public var statusCode: Int {
        get { storage.value.statusCode }
        set { values.statusCode = newValue }
    }
    /// "1.0", "1.1", "2" or "3".
    public var httpVersion: String {
        get { storage.value.httpVersion }
        set { values.httpVersion = newValue }
    }
    /// The fields of the final response.
    public var headers: HTTPHeaders {
        get { storage.value.headers }
        set { values.headers = newValue }
    }
    /// The request that led to the response, and its times; nil if not known. Ignored when responses are compared.
    package var exchange: HTTPExchange? {
        get { storage.value.exchange.value }
        set { values.exchange.value = newValue }
    }

    /// A download copies its response dozens of times; one reference makes that cheap.
    private var storage: Shared<Values>

    private struct Values: Sendable, Hashable {
        var url: URL
        var statusCode: Int
        var httpVersion: String
        var headers: HTTPHeaders
        var exchange = IgnoredInEquality<HTTPExchange?>(value: nil)
    }

    private var values: Values {
        get { storage.value }
        set { storage = Shared(newValue) }
    }

    /// Creates a response.
    public init(url: URL, statusCode: Int, httpVersion: String = "1.1", headers: HTTPHeaders = [:]) {
        storage = Shared(Values(url: url, statusCode: statusCode, httpVersion: httpVersion, headers: headers))
    }

    /// The type and subtype of the body in lower case, without parameters; nil if the response does not declare one.
    public var mimeType: String? {
        guard let value = headers["Content-Type"] else { return nil }
        let essence = value.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let trimmed = String(decoding: essence.filter { $0 > 32 }, as: UTF8.self).lowercased()
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The `Content-Length`: the number of bytes of the body on the wire; nil if missing or not a number.
    package var contentLength: Int64? {
        guard let value = headers["Content-Length"] else { return nil }
        let first = value.utf8.prefix { $0 != UInt8(ascii: ",") }
        guard let length = Int64(String(decoding: first, as: UTF8.self)), length >= 0 else { return nil }
        return length
    }

    /// The number of bytes of the body after content decoding; nil if the response does not declare it.
    package var expectedByteCount: Int64? {
        if let coding = headers["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        if headers["Transfer-Encoding"] != nil { return nil }
        return contentLength
    }
}
