import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct RetryDeciderTests {
    private let wallTime = 784_111_777.0

    private func decide(
        _ decider: inout RetryDecider,
        _ error: WebImageError = WebImageError(.networkConnectionLost, ""),
        policy: DownloadRetryPolicy = .exact,
        retryAfter: String? = nil,
        method: String = "GET",
        random: Double = 0.5
    ) -> RetryDecider.Decision {
        var headers = HTTPHeaders()
        headers["Retry-After"] = retryAfter
        return decider.decide(
            error,
            policy: policy,
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
    ) -> RetryDecider.Decision {
        var decider = RetryDecider()
        return decide(&decider, error, policy: policy, retryAfter: retryAfter, method: method, random: random)
    }

    private func status(_ status: Int) -> WebImageError {
        WebImageError(.invalidDownloadStatusCode, "", statusCode: status)
    }

    @Test(
        arguments: [
            ("120", 120), ("4294967296", 2_147_483_648), (String(repeating: "9", count: 400), 2_147_483_648),
        ] as [(String, Double)]
    )
    func `The time that a server asks to wait is a number, however long it is written`(text: String, seconds: Double) {
        let response = HTTPResponse(url: testURL("/"), statusCode: 503, headers: ["Retry-After": text])
        #expect(RetryDecider.retryAfter(response, wallTime: 0) == seconds)
    }

    @Test(arguments: [
        WebImageError.Code.timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .transportFailed,
    ])
    func `Failures that may pass are tried again, as often as the policy says`(code: WebImageError.Code) {
        var decider = RetryDecider()
        let decisions = (0..<5).map { _ in decide(&decider, WebImageError(code, "")) }
        #expect(decisions == [.wait(seconds: 1), .wait(seconds: 2), .wait(seconds: 4), .giveUp, .giveUp])
        #expect(decider.retryCount == 3)
        #expect(first(WebImageError(code, ""), policy: .never) == .giveUp)
    }

    @Test func `A host that is left alone is waited for, unless that takes too long`() {
        func unavailable(_ seconds: Double?) -> WebImageError {
            var error = WebImageError(.hostUnavailable, "")
            error.retryAfter = seconds
            return error
        }
        #expect(first(unavailable(7)) == .wait(seconds: 7))
        #expect(first(unavailable(nil)) == .wait(seconds: 1), "nobody said for how long")
        #expect(first(unavailable(60)) == .wait(seconds: 60) && first(unavailable(60.1)) == .giveUp)
        var spread = DownloadRetryPolicy.exact
        spread.jitter = 1
        #expect(first(unavailable(7), policy: spread, random: 0.5) == .wait(seconds: 7.5), "never earlier")
        var decider = RetryDecider()
        let decisions = (0..<4).map { _ in decide(&decider, unavailable(2)) }
        #expect(decisions == [.wait(seconds: 2), .wait(seconds: 2), .wait(seconds: 2), .giveUp])
        #expect(first(unavailable(2), method: "POST") == .giveUp)
    }

    @Test(arguments: [
        WebImageError.Code.invalidURL, .badImageData, .cacheNotModified, .blacklisted, .limitExceeded,
        .unsupportedFormat, .outOfMemory, .notCached, .downloadRefused, .invalidDownloadOperation, .cancelled,
        .invalidDownloadResponse, .invalidDownloadContentType, .badRedirect, .fileNotFound, .fileAccessFailed,
        .invalidDownloadStatusCode,
    ])
    func `Failures that will not pass are not`(code: WebImageError.Code) {
        #expect(first(WebImageError(code, "")) == .giveUp)
    }

    @Test func `Statuses are tried again by the policy's set`() {
        for code in [408, 425, 429, 500, 502, 503, 504] { #expect(first(status(code)) == .wait(seconds: 1)) }
        for code in [304, 400, 401, 403, 404, 410, 451, 501, 505] { #expect(first(status(code)) == .giveUp) }
        var policy = DownloadRetryPolicy.exact
        policy.retryableStatusCodes = [404]
        #expect(first(status(404), policy: policy) == .wait(seconds: 1))
        #expect(first(status(503), policy: policy) == .giveUp)
    }

    @Test func `A handshake that broke off may pass, a refused certificate or missing set-up does not`() {
        func error(_ code: Int) -> WebImageError {
            WebImageError(
                .secureConnectionFailed,
                "",
                underlyingError: TransportFailure(code: code, message: "")
            )
        }
        // CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE.
        #expect(first(error(35)) == .wait(seconds: 1))
        #expect(first(error(60)) == .giveUp)
        #expect(first(error(77)) == .giveUp)
        #expect(first(WebImageError(.secureConnectionFailed, "")) == .wait(seconds: 1))
    }

    @Test func `Methods that change things are repeated only when the policy says so`() {
        #expect(first(method: "HEAD") == .wait(seconds: 1))
        for method in ["POST", "PUT", "DELETE", "get", ""] { #expect(first(method: method) == .giveUp) }
        var policy = DownloadRetryPolicy.exact
        policy.retriesUnsafeMethods = true
        #expect(first(policy: policy, method: "POST") == .wait(seconds: 1))
    }

    @Test func `Waits grow up to the longest one`() {
        var policy = DownloadRetryPolicy.exact
        policy.maximumRetryCount = 6
        policy.maximumDelay = 10
        var decider = RetryDecider()
        let waits = (0..<6).map { _ in decide(&decider, policy: policy) }
        #expect(waits == [1, 2, 4, 8, 10, 10].map { .wait(seconds: $0) })
    }

    @Test func `Ten thousand draws stay within the jitter and spread over it`() {
        var policy = DownloadRetryPolicy.exact
        for jitter in [0, 0.25, 1] {
            policy.jitter = jitter
            let waits = (0..<10_000).compactMap { _ -> Double? in
                guard case .wait(let seconds) = first(policy: policy, random: .random(in: 0...1)) else { return nil }
                return seconds
            }
            #expect(waits.count == 10_000)
            #expect(waits.allSatisfy { $0 >= 1 - jitter && $0 <= 1 })
            let mean = waits.reduce(0, +) / 10_000
            #expect(abs(mean - (1 - jitter / 2)) < 0.02)
        }
    }

    @Test(arguments: [
        ("0", 0.0), ("7", 7), (" 7 ", 7), ("60", 60), ("007", 7),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
        // A date that has passed.
        ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
        // What cannot be read is as good as nothing.
        ("soon", 1), ("", 1), ("-5", 1), ("1.5", 1), ("5 minutes", 1), ("Sun, 99 Nov 1994 08:40:00 GMT", 1),
    ])
    func `The server's wish is kept to`(value: String, seconds: Double) {
        #expect(first(status(503), retryAfter: value) == .wait(seconds: seconds))
    }

    @Test(arguments: ["61", "99999999999999999999999999", "Sun, 06 Nov 1994 09:49:37 GMT"])
    func `A server that asks for too long is not waited for`(value: String) {
        #expect(first(status(503), retryAfter: value) == .giveUp)
    }

    @Test func `What spreads the clients comes on top of the server's wish`() {
        var policy = DownloadRetryPolicy.exact
        policy.jitter = 1
        #expect(first(status(503), policy: policy, retryAfter: "5", random: 0.5) == .wait(seconds: 5.5))
        #expect(first(status(503), policy: policy, retryAfter: "5", random: 0) == .wait(seconds: 5))
    }

    @Test func `A server's wish in an answer that was fine means nothing`() {
        #expect(first(retryAfter: "7") == .wait(seconds: 1))
    }

    @Test func `Senseless policies wait a sensible time`() {
        for value in [-1, .nan, -.infinity] as [Double] {
            var policy = DownloadRetryPolicy.exact
            policy.baseDelay = value
            #expect(first(policy: policy) == .wait(seconds: 0))
            policy = .exact
            policy.maximumDelay = value
            #expect(first(policy: policy) == .wait(seconds: 0))
            policy = .exact
            policy.jitter = value
            #expect(first(policy: policy) == .wait(seconds: 1))
            policy = .exact
            policy.maximumRetryAfter = value
            #expect(first(status(503), policy: policy, retryAfter: "1") == .giveUp)
            #expect(first(status(503), policy: policy, retryAfter: "0") == .wait(seconds: 0))
            policy = .exact
            policy.maximumRetryCount = Int.min
            #expect(first(policy: policy) == .giveUp)
        }
        var endless = DownloadRetryPolicy.exact
        endless.baseDelay = .infinity
        endless.multiplier = .infinity
        #expect(first(policy: endless) == .wait(seconds: 30))
    }
}
