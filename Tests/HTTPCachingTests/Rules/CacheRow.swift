import FoundationEssentials
import Testing
import WebImage

@testable import WebImageLoading

/// A row of the table: a response stored at time 0, a request some seconds later, and the expected decision.
///
/// Fields are written `Name: value | Name: value`; `{60}` in a value is the date 60 seconds after time 0. Expectations
/// have the form of ``text(_:)``.
struct CacheRow: Sendable, Hashable, CustomTestStringConvertible {
    /// Time 0: Tue, 14 Nov 2023 22:13:20 GMT.
    static let start = 1_700_000_000.0

    /// The response's fields.
    var response: String
    var status = 200
    /// The fields of the request that it answered.
    var asked = ""
    /// Seconds that the exchange took.
    var delay = 0.0
    /// The redirects before it: `302 Name: value`, separated by `>`.
    var via = ""
    /// The fields of the new request.
    var request = ""
    var cookies = false
    var policy = CachePolicy.http
    /// The new request's time, in seconds after time 0.
    var at: Double
    /// The expected decision and age.
    var expected: String
    var age: Double?

    init(
        _ response: String,
        status: Int = 200,
        asked: String = "",
        delay: Double = 0,
        via: String = "",
        request: String = "",
        cookies: Bool = false,
        policy: CachePolicy = .http,
        at: Double,
        _ expected: String,
        age: Double? = nil
    ) {
        self.response = response
        self.status = status
        self.asked = asked
        self.delay = delay
        self.via = via
        self.request = request
        self.cookies = cookies
        self.policy = policy
        self.at = at
        self.expected = expected
        self.age = age
    }

    var testDescription: String { "\(response) ; \(request) @\(at) → \(expected)" }

    var record: HTTPCacheRecord {
        HTTPCacheMachine.record(of: stored, request: HTTPCacheRequest(), now: .nan)
    }

    private var stored: HTTPResponse {
        var answer = Self.answer(response, status: status)
        answer.exchange = HTTPExchange(
            requestHeaders: Self.headers(asked),
            requestTime: Self.start - delay,
            responseTime: Self.start,
            redirects: via.split(separator: ">").map { Self.hop(String($0)) }
        )
        return answer
    }

    var decision: HTTPCacheDecision {
        HTTPCacheMachine.decide(
            record,
            isStored: true,
            request: HTTPCacheRequest(headers: Self.headers(request), handlesCookies: cookies),
            policy: policy,
            now: Self.start + at
        )
    }

    static func answer(_ fields: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(url: url, statusCode: status, headers: headers(fields))
    }

    static var url: URL { URL(string: "http://pictures.test/a.png") ?? URL(filePath: "/") }

    private static func hop(_ text: String) -> HTTPExchange.Hop {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        return HTTPExchange.Hop(
            statusCode: parts.first.flatMap { Int($0) } ?? 0,
            headers: headers(parts.count > 1 ? parts[1] : "")
        )
    }

    /// Parses fields as rows write them.
    static func headers(_ text: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in text.split(separator: "|") {
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? dated(String(parts[1])) : ""
            headers.add(name: trimmed(String(parts[0])), value: trimmed(value))
        }
        return headers
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    private static func dated(_ text: String) -> String {
        guard let open = text.firstIndex(of: "{"), let close = text.firstIndex(of: "}"),
            let seconds = Double(text[text.index(after: open)..<close])
        else { return text }
        return text[..<open] + date(seconds) + dated(String(text[text.index(after: close)...]))
    }

    /// Returns the date this many seconds after time 0, in the first form of RFC 9110, 5.6.7.
    static func date(_ seconds: Double) -> String {
        let time = Int(start + seconds)
        let days = Int((Double(time) / 86_400).rounded(.down))
        // Days are counted from the first of March of the year 0, so that leap days are at the end of a year.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        let names = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"]
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let second = time - days * 86_400
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(weekdays[((days % 7) + 7) % 7]), \(two(day)) \(names[month]) \(year) \(clock) GMT"
    }

    /// Returns a decision as rows write it: the action, the rule, and for a revalidation what is served when the server
    /// does not answer.
    static func text(_ decision: HTTPCacheDecision) -> String {
        switch decision {
        case .hit(let answer): answer.isStale ? "hit stale \(answer.rule)" : "hit \(answer.rule)"
        case .serveStale(let answer): answer.isStale ? "serve \(answer.rule)" : "serve fresh \(answer.rule)"
        case .revalidate(let answer, .never): "ask \(answer.rule), never\(answer.isStale ? "" : " (fresh)")"
        case .revalidate(let answer, .always): "ask \(answer.rule), always\(answer.isStale ? "" : " (fresh)")"
        case .revalidate(let answer, let fallback):
            "ask \(answer.rule), \(fallback.whenUnreachable ? "offline" : "error")\(answer.isStale ? "" : " (fresh)")"
        case .fetch(let rule): "fetch \(rule)"
        case .unsatisfiable(let rule): "refuse \(rule)"
        }
    }

    static func age(of decision: HTTPCacheDecision) -> Double? {
        switch decision {
        case .hit(let answer), .serveStale(let answer), .revalidate(let answer, _): answer.age
        case .fetch, .unsatisfiable: nil
        }
    }
}
