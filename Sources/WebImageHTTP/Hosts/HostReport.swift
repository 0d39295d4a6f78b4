import FoundationEssentials

/// The outcome of a sent request as evidence about its host. Pure.
struct HostReport: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// The host works, whatever the response was.
        case answered
        /// The host is unreachable or does not work.
        case failed
        /// No evidence.
        case silent
    }

    /// The result of a request.
    struct Outcome {
        /// The response head as the server sent it; nil if none arrived.
        var response: HTTPResponse?
        /// True once a byte of the body arrived.
        var hasBody = false
        /// The error of the request; nil while it runs, or if it succeeded.
        var error: WebImageError?
    }

    var url: URL
    var kind: Kind
    /// The seconds of the response's `Retry-After`.
    var retryAfter: Double?
    /// The URL of the download's first request; nil if it was not redirected.
    var origin: URL?

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - url: the URL to which the request was sent.
    ///   - wallTime: seconds since 1970.
    init(_ url: URL, _ outcome: Outcome, wallTime: @autoclosure () -> Double) {
        self.url = outcome.response?.url ?? url
        kind = Self.kind(outcome)
        if let response = outcome.response, Self.asks(response.statusCode) {
            retryAfter = response.retryAfter(wallTime: wallTime())
        }
    }

    /// Returns whether `Retry-After` concerns the host with this status, and not only the resource.
    static func asks(_ status: Int) -> Bool { status == 429 || status == 503 }

    private static func kind(_ outcome: Outcome) -> Kind {
        if let status = outcome.response?.statusCode, (502...504).contains(status) { return .failed }
        switch outcome.error?.code {
        case .cannotFindHost?, .cannotConnectToHost?, .networkConnectionLost?, .timedOut?, .secureConnectionFailed?:
            break
        default: return outcome.response == nil ? .silent : .answered
        }
        if outcome.hasBody {
            // Either the server stalls, or a local limit is too low for its body: there is no way to tell.
            return outcome.error?.code == .timedOut ? .silent : .answered
        }
        if let error = outcome.error, error.code == .secureConnectionFailed {
            return CurlErrorMapping.isBrokenHandshake(error) ? .failed : .silent
        }
        return .failed
    }
}
