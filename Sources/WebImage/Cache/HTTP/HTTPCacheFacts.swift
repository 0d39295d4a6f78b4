/// What the fields of a response say about caching, read once so that decisions are arithmetic.
struct HTTPCacheFacts: Sendable, Hashable {
    let control: HTTPCacheControl
    /// `Expires`; of several the earliest. Minus infinity for one that is no date, which is a time past. nil without one.
    let expires: Double?
    /// `Date`; nil where it does not say.
    let date: Double?
    /// `Age` in seconds: the first of a list, 0 where it is no number.
    let age: Double
    /// `Last-Modified`; nil without a date.
    let lastModified: Double?
    /// The names that `Vary` lists, in lower case.
    let vary: [String]
    /// Whether `Vary` has a `*`.
    let variesOnAll: Bool
    /// Whether the server can be asked about it: there is an `ETag` or a `Last-Modified`.
    let hasValidator: Bool

    /// What these fields say.
    ///
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
        hasValidator = CacheValidators(etag: headers.firstValue(of: "ETag"), lastModified: modified) != nil
    }

    private static func firstNumber(_ text: String) -> Double? {
        let first = text.utf8.prefix { $0 != UInt8(ascii: ",") }
        return HTTPDirective.seconds(HTTPHeaders.trimmed(first).utf8)
    }
}
