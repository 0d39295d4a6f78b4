import FoundationEssentials
import HTTPTestSupport
import ModelTestSupport
import Testing

@testable import WebImageHTTP

@Suite struct DownloadRetryPolicyTests {
    private let wallTime = 784_111_777.0

    private func decide(
        attempt: Int,
        _ error: WebImageError = WebImageError(.networkConnectionLost, ""),
        policy: DownloadRetryPolicy = .exact,
        retryAfter: String? = nil,
        method: String = "GET",
        random: Double = 0.5
    ) -> Double? {
        var headers = HTTPHeaders()
        headers["Retry-After"] = retryAfter
        return policy.wait(
            after: error,
            attempt: attempt,
            response: retryAfter == nil ? nil : HTTPResponse(url: testURL("/"), statusCode: 503, headers: headers),
            method: method,
            wallTime: wallTime,
            random: random
        )
    }

    private func first(
        _ error: WebImageError = WebImageError(.networkConnectionLost, ""),
        policy: DownloadRetryPolicy = .exact,
        retryAfter: String? = nil,
        method: String = "GET",
        random: Double = 0.5
    ) -> Double? {
        decide(attempt: 1, error, policy: policy, retryAfter: retryAfter, method: method, random: random)
    }

    private func status(_ status: Int) -> WebImageError {
        WebImageError(.invalidDownloadStatusCode, "", statusCode: status)
    }

    @Test(
        arguments: [
            ("120", 120), ("4294967296", 2_147_483_648), (String(repeating: "9", count: 400), 2_147_483_648),
        ] as [(String, Double)]
    )
    func `A Retry-After time is a number of any length`(text: String, seconds: Double) {
        let response = HTTPResponse(url: testURL("/"), statusCode: 503, headers: ["Retry-After": text])
        #expect(response.retryAfter(wallTime: 0) == seconds)
    }

    @Test(arguments: [
        WebImageError.Code.timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .transportFailed,
    ])
    func `Transient failures are retried, as often as the policy says`(code: WebImageError.Code) {
        #expect((1...5).map { decide(attempt: $0, WebImageError(code, "")) } == [1, 2, 4, nil, nil])
        #expect(first(WebImageError(code, ""), policy: .never) == nil)
    }

    @Test func `A host's back-off is waited for, unless that takes too long`() {
        func unavailable(_ seconds: Double?) -> WebImageError {
            var error = WebImageError(.hostUnavailable, "")
            error.retryAfter = seconds
            return error
        }
        #expect(first(unavailable(7)) == 7)
        #expect(first(unavailable(nil)) == 1, "without a given duration")
        #expect(first(unavailable(60)) == 60 && first(unavailable(60.1)) == nil)
        var spread = DownloadRetryPolicy.exact
        spread.jitter = 1
        #expect(first(unavailable(7), policy: spread, random: 0.5) == 7.5, "never earlier")
        #expect((1...4).map { decide(attempt: $0, unavailable(2)) } == [2, 2, 2, nil])
        #expect(first(unavailable(2), method: "POST") == nil)
    }

    @Test(arguments: [
        WebImageError.Code.invalidURL, .badImageData, .cacheNotModified, .blacklisted, .limitExceeded,
        .unsupportedFormat, .outOfMemory, .notCached, .downloadRefused, .invalidDownloadOperation, .cancelled,
        .invalidDownloadResponse, .invalidDownloadContentType, .badRedirect, .fileNotFound, .fileAccessFailed,
        .invalidDownloadStatusCode,
    ])
    func `Permanent failures are not retried`(code: WebImageError.Code) {
        #expect(first(WebImageError(code, "")) == nil)
    }

    @Test func `Statuses are retried by the policy's set`() {
        for code in [408, 425, 429, 500, 502, 503, 504] { #expect(first(status(code)) == 1) }
        for code in [304, 400, 401, 403, 404, 410, 451, 501, 505] { #expect(first(status(code)) == nil) }
        var policy = DownloadRetryPolicy.exact
        policy.retryableStatusCodes = [404]
        #expect(first(status(404), policy: policy) == 1)
        #expect(first(status(503), policy: policy) == nil)
    }

    @Test func `An interrupted handshake is transient, a refused certificate or a wrong configuration is not`() {
        func error(_ code: Int) -> WebImageError {
            WebImageError(
                .secureConnectionFailed,
                "",
                underlyingError: TransportFailure(code: code, message: "")
            )
        }
        // CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE.
        #expect(first(error(35)) == 1)
        #expect(first(error(60)) == nil)
        #expect(first(error(77)) == nil)
        #expect(first(WebImageError(.secureConnectionFailed, "")) == 1)
    }

    @Test func `Unsafe methods are repeated only if the policy says so`() {
        #expect(first(method: "HEAD") == 1)
        for method in ["POST", "PUT", "DELETE", "get", ""] { #expect(first(method: method) == nil) }
        var policy = DownloadRetryPolicy.exact
        policy.retriesUnsafeMethods = true
        #expect(first(policy: policy, method: "POST") == 1)
    }

    @Test func `Delays grow up to the maximum`() {
        var policy = DownloadRetryPolicy.exact
        policy.maximumRetryCount = 6
        policy.maximumDelay = 10
        #expect((1...6).map { decide(attempt: $0, policy: policy) } == [1, 2, 4, 8, 10, 10])
    }

    @Test func `Ten thousand draws stay within the jitter and spread over it`() {
        var policy = DownloadRetryPolicy.exact
        for jitter in [0, 0.25, 1] {
            policy.jitter = jitter
            let waits = (0..<10_000).compactMap { _ in first(policy: policy, random: .random(in: 0...1)) }
            #expect(waits.count == 10_000)
            #expect(waits.allSatisfy { $0 >= 1 - jitter && $0 <= 1 })
            let mean = waits.reduce(0, +) / 10_000
            #expect(abs(mean - (1 - jitter / 2)) < 0.02)
        }
    }

    @Test(arguments: [
        ("0", 0.0), ("7", 7), (" 7 ", 7), ("60", 60), ("007", 7),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
        // A date in the past.
        ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
        // An unreadable value counts as none.
        ("soon", 1), ("", 1), ("-5", 1), ("1.5", 1), ("5 minutes", 1), ("Sun, 99 Nov 1994 08:40:00 GMT", 1),
    ])
    func `Retry-After is obeyed`(value: String, seconds: Double) {
        #expect(first(status(503), retryAfter: value) == seconds)
    }

    @Test(arguments: ["61", "99999999999999999999999999", "Sun, 06 Nov 1994 09:49:37 GMT"])
    func `A Retry-After that is too long is not waited for`(value: String) {
        #expect(first(status(503), retryAfter: value) == nil)
    }

    @Test func `Jitter is added to Retry-After`() {
        var policy = DownloadRetryPolicy.exact
        policy.jitter = 1
        #expect(first(status(503), policy: policy, retryAfter: "5", random: 0.5) == 5.5)
        #expect(first(status(503), policy: policy, retryAfter: "5", random: 0) == 5)
    }

    @Test func `Retry-After of a successful response has no effect`() {
        #expect(first(retryAfter: "7") == 1)
    }

    @Test func `Absurd policies have sensible delays`() {
        for value in [-1, .nan, -.infinity] as [Double] {
            var policy = DownloadRetryPolicy.exact
            policy.baseDelay = value
            #expect(first(policy: policy) == 0)
            policy = .exact
            policy.maximumDelay = value
            #expect(first(policy: policy) == 0)
            policy = .exact
            policy.jitter = value
            #expect(first(policy: policy) == 1)
            policy = .exact
            policy.maximumRetryAfter = value
            #expect(first(status(503), policy: policy, retryAfter: "1") == nil)
            #expect(first(status(503), policy: policy, retryAfter: "0") == 0)
            policy = .exact
            policy.maximumRetryCount = Int.min
            #expect(first(policy: policy) == nil)
        }
        var endless = DownloadRetryPolicy.exact
        endless.baseDelay = .infinity
        endless.multiplier = .infinity
        #expect(first(policy: endless) == 30)
    }
}
