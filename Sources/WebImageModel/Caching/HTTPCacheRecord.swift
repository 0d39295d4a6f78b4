import FoundationEssentials

/// What an HTTP cache keeps of a response beside its body: enough to tell later whether the body still serves, and how to ask
/// whether it does.
public struct HTTPCacheRecord: Sendable, Hashable {
    /// The status, for example 200.
    public internal(set) var statusCode: Int
    /// The fields of the response that are kept: end to end, and none that belong to the connection or set cookies. Their names
    /// are in lower case.
    public internal(set) var headers: HTTPHeaders {
        didSet { facts = HTTPCacheFacts(headers, receivedAt: responseTime) }
    }
    /// When the request was sent that was answered with it, or last with a 304 for it; in seconds since 1970.
    public internal(set) var requestTime: Double
    /// When the head of that answer came, in seconds since 1970.
    public internal(set) var responseTime: Double
    /// The fields of the request that `Vary` names, as they were sent; one that was not sent is left out. Of credentials and
    /// cookies there is a digest.
    public internal(set) var selectingHeaders: HTTPHeaders
    /// The most seconds that it may serve after ``responseTime`` because of the redirects that led to it; nil without a bound.
    package var redirectLifetime: Double?
    /// What the fields say, read once.
    package private(set) var facts: HTTPCacheFacts

    /// A record of fields that are already chosen.
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

    /// Keeps what `Vary` names of the fields that were sent. What is too long to be kept cannot be compared later.
    package mutating func select(by sent: HTTPHeaders) {
        selectingHeaders = [:]
        guard !facts.variesOnAll else { return }
        if let selecting = Self.selectingHeaders(facts.vary, of: sent) {
            selectingHeaders = selecting
        } else {
            headers["vary"] = "*"
        }
    }

    /// The most bytes of the request's fields that are kept because of `Vary`.
    static let selectingByteCount = 8 << 10

    /// Whether the response is for `request` too (RFC 9111, 4.1): the fields that `Vary` names are the same in it, but for white
    /// space and for how a list is split into fields. Never with a `*`.
    package func isSelected(by request: HTTPCacheRequest) -> Bool {
        guard !facts.variesOnAll else { return false }
        return facts.vary.allSatisfy { name in
            if name == "cookie", request.handlesCookies { return false }
            return Self.isSame(Self.selectingValue(name, of: request.headers), selectingHeaders[name], name: name)
        }
    }

    /// The fields among those of a request that `names` lists; nil when they are too long to be kept.
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

    /// What is compared of a field of a request. What is secret is not to lie on disk.
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
        // Commas in quotes do not end members; such values have to be the same as they are.
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return HTTPHeaders.trimmed(value.utf8[...]) }
        let members = value.utf8.split(separator: UInt8(ascii: ",")).map(HTTPHeaders.trimmed)
        let list = members.filter { !$0.isEmpty }.joined(separator: ",")
        return name == "accept-language" ? list.lowercased() : list
    }
}

/// What the fields of a response say about caching, read once so that decisions are arithmetic.
package struct HTTPCacheFacts: Sendable, Hashable {
    package let control: HTTPCacheControl
    /// `Expires`; of several the earliest. Minus infinity for one that is no date, which is a time past. nil without one.
    package let expires: Double?
    /// `Date`; nil where it does not say.
    package let date: Double?
    /// `Age` in seconds: the first of a list, 0 where it is no number.
    package let age: Double
    /// `Last-Modified`; nil without a date.
    package let lastModified: Double?
    /// The names that `Vary` lists, in lower case.
    package let vary: [String]
    /// Whether `Vary` has a `*`.
    package let variesOnAll: Bool
    /// What the server can be asked with about it; nil when there is nothing that can be used.
    package let validators: CacheValidators?

    /// - Parameter responseTime: when they came, in seconds since 1970: the century of years with two digits follows from it.
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
