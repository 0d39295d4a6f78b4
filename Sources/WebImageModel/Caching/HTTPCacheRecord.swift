import FoundationEssentials

/// The part of a response that an HTTP cache keeps besides its body: enough to decide later whether the body is still fresh, and to
/// revalidate it.
package struct HTTPCacheRecord: Sendable, Hashable {
    /// The status, for example 200.
    package internal(set) var statusCode: Int
    /// The stored fields of the response: only end-to-end fields, without those that belong to the connection or set cookies. Names
    /// are in lower case.
    package internal(set) var headers: HTTPHeaders {
        didSet { facts = HTTPCacheFacts(headers, receivedAt: responseTime) }
    }
    /// The time at which the request for this response was sent, or for the latest 304 that confirmed it; in seconds since 1970.
    package internal(set) var requestTime: Double
    /// The time at which the head of that response arrived, in seconds since 1970.
    package internal(set) var responseTime: Double
    /// The request fields that `Vary` names, as they were sent; fields that were not sent are left out. Credentials and cookies are
    /// stored as a digest.
    package internal(set) var selectingHeaders: HTTPHeaders
    /// The longest time after ``responseTime``, in seconds, that the redirects leading to it allow it to be used; nil for no bound.
    package var redirectLifetime: Double?
    /// The caching information of the fields, parsed once.
    package private(set) var facts: HTTPCacheFacts

    /// Creates a record of fields that are already selected.
    package init(
        statusCode: Int,
        headers: HTTPHeaders,
        requestTime: Double,
        responseTime: Double,
        selectingHeaders: HTTPHeaders = [:],
        redirectLifetime: Double? = nil
    ) {
        self.statusCode = statusCode
        self.headers = headers
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selectingHeaders = selectingHeaders
        self.redirectLifetime = redirectLifetime
        facts = HTTPCacheFacts(headers, receivedAt: responseTime)
    }

    // MARK: Vary

    /// Stores the request fields that `Vary` names. If they are too long to be stored, sets `Vary: *`, as they could not be
    /// compared later.
    package mutating func select(by sent: HTTPHeaders) {
        selectingHeaders = [:]
        guard !facts.variesOnAll else { return }
        if let selecting = Self.selectingHeaders(facts.vary, of: sent) {
            selectingHeaders = selecting
        } else {
            headers["vary"] = "*"
        }
    }

    /// The maximum number of bytes of request fields that are kept for `Vary`.
    static let selectingByteCount = 8 << 10

    /// Returns whether the response also matches `request` (RFC 9111, 4.1): the fields that `Vary` names are the same in both,
    /// except for white space and for how a list is split into fields. False with a `*`.
    package func isSelected(by request: HTTPCacheRequest) -> Bool {
        guard !facts.variesOnAll else { return false }
        return facts.vary.allSatisfy { name in
            if name == "cookie", request.handlesCookies { return false }
            return Self.isSame(Self.selectingValue(name, of: request.headers), selectingHeaders[name], name: name)
        }
    }

    /// Returns the request fields that `names` lists; nil if they are too long to be kept.
    static func selectingHeaders(_ names: [String], of headers: HTTPHeaders) -> HTTPHeaders? {
        var result = HTTPHeaders()
        var byteCount = 0
        for name in Set(names).sorted() {
            guard let value = selectingValue(name, of: headers) else { continue }
            byteCount += name.utf8.count + value.utf8.count
            guard byteCount <= selectingByteCount, HTTPHeaders.isToken(name), HTTPHeaders.isLine(value) else {
                return nil
            }
            result.add(name: name, value: value)
        }
        return result
    }

    /// Returns the value of a request field for comparison. Secrets are replaced by a digest, so that they are not written to disk.
    private static func selectingValue(_ name: String, of headers: HTTPHeaders) -> String? {
        guard let value = headers[name] else { return nil }
        switch name {
        case "authorization", "proxy-authorization", "cookie": return Hashing.md5Hex(value)
        default: return value
        }
    }

    private static func isSame(_ left: String?, _ right: String?, name: String) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left == right || normalized(left, name: name) == normalized(right, name: name)
    }

    private static func normalized(_ value: String, name: String) -> String {
        // Commas in quotes do not separate members; such values must be identical.
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return HTTPHeaders.trimmed(value.utf8[...]) }
        let members = value.utf8.split(separator: UInt8(ascii: ",")).map(HTTPHeaders.trimmed)
        let list = members.filter { !$0.isEmpty }.joined(separator: ",")
        return name == "accept-language" ? list.lowercased() : list
    }
}

/// The caching information in the fields of a response, parsed once so that decisions are only arithmetic.
package struct HTTPCacheFacts: Sendable, Hashable {
    package let control: HTTPCacheControl
    /// `Expires`; of several the earliest. Minus infinity for an invalid date, which counts as past. Nil without the field.
    package let expires: Double?
    /// `Date`; nil if missing or invalid.
    package let date: Double?
    /// `Age` in seconds: the first of a list; 0 if missing or not a number.
    package let age: Double
    /// `Last-Modified`; nil if missing or invalid.
    package let lastModified: Double?
    /// The names that `Vary` lists, in lower case.
    package let vary: [String]
    /// Indicates whether `Vary` has a `*`.
    package let variesOnAll: Bool
    /// The validators of the response; nil if none can be used.
    package let validators: CacheValidators?

    /// - Parameter responseTime: when the fields arrived, in seconds since 1970; it determines the century of two-digit years.
    init(_ headers: HTTPHeaders, receivedAt responseTime: Double) {
        control = HTTPCacheControl(headers)
        expires = headers.fields.lazy.filter { HTTPHeaders.equal($0.name, "Expires") }
            .map { HTTPDate.parse($0.value, now: responseTime) ?? -.infinity }.min()
        date = headers.firstValue(of: "Date").flatMap { HTTPDate.parse($0, now: responseTime) }
        age = headers.firstValue(of: "Age").flatMap(Self.firstNumber) ?? 0
        let modified = headers.firstValue(of: "Last-Modified")
        lastModified = modified.flatMap { HTTPDate.parse($0, now: responseTime) }
        let vary = headers.listedNames(of: "Vary")
        self.vary = vary
        variesOnAll = vary.contains("*")
        validators = CacheValidators(etag: headers.firstValue(of: "ETag"), lastModified: modified)
    }

    private static func firstNumber(_ text: String) -> Double? {
        let first = text.utf8.prefix { $0 != UInt8(ascii: ",") }
        return HTTPDirective.seconds(HTTPHeaders.trimmed(first).utf8)
    }
}
