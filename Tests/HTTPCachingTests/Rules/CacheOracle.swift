import TestSupport
import WebImage

/// A random response with known meaning, and what a private cache may do with it.
///
/// Written from the text of RFC 9111 in another way than the library: by points in time instead of ages.
struct CacheOracle {
    var fields: [String] = []
    var isNoCache = false
    var isNoStore = false
    var mustRevalidate = false
    var isImmutable = false
    var staleWhileRevalidate: Int?
    var maxAge: Int?
    /// Relative to time 0, like all times here.
    var expires: Int?
    var date: Int?
    var age = 0
    var lastModified: Int?
    var delay = 0
    var vary: [String] = []
    var sent: [String: String] = [:]
    var hasETag = false

    init(using random: inout SeededGenerator) {
        var directives: [String] = []
        if random.below(2) == 0 {
            maxAge = random.below(200)
            directives.append(
                "\(["max-age", "Max-Age"][random.below(2)])=\(random.below(2) == 0 ? "\(maxAge ?? 0)" : "\"\(maxAge ?? 0)\"")"
            )
        }
        isNoCache = random.below(6) == 0
        if isNoCache { directives.append(["no-cache", "NO-CACHE", "no-cache=\"a, b\""][random.below(3)]) }
        isNoStore = random.below(10) == 0
        if isNoStore { directives.append("no-store") }
        mustRevalidate = random.below(6) == 0
        if mustRevalidate { directives.append("must-revalidate") }
        isImmutable = random.below(6) == 0
        if isImmutable { directives.append("immutable") }
        if random.below(3) == 0 {
            staleWhileRevalidate = random.below(200)
            directives.append("stale-while-revalidate=\(staleWhileRevalidate ?? 0)")
        }
        for noise in ["s-maxage=9000", "foo", "bar=\"max-age=9000, x\"", "private", "proxy-revalidate"]
        where random.below(5) == 0 {
            directives.append(noise)
        }
        directives.shuffle(using: &random)
        addTimes(using: &random)
        if !directives.isEmpty {
            let cut = random.below(directives.count)
            for part in [directives[..<cut], directives[cut...]] where !part.isEmpty {
                fields.append("Cache-Control: " + part.joined(separator: [",", ", ", " ,\t"][random.below(3)]))
            }
        }
        addVariants(using: &random)
        fields.shuffle(using: &random)
    }

    private mutating func addTimes(using random: inout SeededGenerator) {
        delay = random.below(3) == 0 ? random.below(20) : 0
        if random.below(2) == 0 {
            let time = random.below(80) - 60
            date = time
            fields.append("Date: {\(time)}")
        }
        if random.below(3) == 0 {
            let time = random.below(300) - 60
            expires = time
            fields.append("Expires: {\(time)}")
        }
        if random.below(3) == 0 {
            age = random.below(60)
            fields.append("Age: \(age)")
        }
        if random.below(3) == 0 {
            let time = -random.below(3000)
            lastModified = time
            fields.append("Last-Modified: {\(time)}")
        }
        if random.below(2) == 0 {
            hasETag = true
            fields.append("ETag: \"\(random.below(100))\"")
        }
    }

    private mutating func addVariants(using random: inout SeededGenerator) {
        for name in ["foo", "bar"] where random.below(2) == 0 { sent[name] = "\(random.below(3))" }
        guard random.below(3) == 0 else { return }
        vary = [["foo"], ["bar"], ["foo", "bar"], ["*"]][random.below(4)]
        fields.append("Vary: " + vary.joined(separator: ", "))
    }

    /// Returns whether a request with these fields selects the same variant.
    func isVariant(_ request: [String: String]) -> Bool {
        !vary.contains("*") && vary.allSatisfy { sent[$0] == request[$0] }
    }

    /// The time at which freshness ends. The response arrived at 0; it was made before the request, earlier by its
    /// `Age`, and not after its `Date`.
    var end: Double {
        let birth = Swift.min(Double(-delay - age), Double(Swift.min(date ?? 0, 0)))
        return birth + lifetime
    }

    private var lifetime: Double {
        if let maxAge { return Double(maxAge) }
        if let expires { return Double(Swift.max(0, expires - (date ?? 0))) }
        guard let lastModified else { return 0 }
        return Double(Swift.max(0, (date ?? 0) - lastModified)) / 10
    }

    /// Returns whether it may be served at `now` without the server.
    func isFresh(at now: Double) -> Bool { Swift.max(now, 0) < end - 1e-9 }

    /// Returns whether it may be delivered at `now` while the server is asked.
    func mayBeDeliveredStale(at now: Double) -> Bool {
        guard let staleWhileRevalidate, !mustRevalidate else { return false }
        return Swift.max(now, 0) < end + Double(staleWhileRevalidate) - 1e-9
    }

    /// Returns whether `now` is too near to a limit to decide, since tenths are not exact in binary.
    func isAtBorder(_ now: Double) -> Bool {
        let time = Swift.max(now, 0)
        return abs(time - end) < 1e-6 || abs(time - end - Double(staleWhileRevalidate ?? 0)) < 1e-6
    }

    /// The library's record of it.
    var row: CacheRow {
        let asked = sent.map { "\($0.key): \($0.value)" }.sorted().joined(separator: " | ")
        return CacheRow(fields.joined(separator: " | "), asked: asked, delay: Double(delay), at: 0, "")
    }
}
