import FoundationEssentials

/// What a request that was sent says about the host it went to. Pure.
struct HostReport: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// It is there and does its work, whatever it answered.
        case answered
        /// It is not there, or does not do its work.
        case failed
        /// Nothing.
        case silent
    }

    /// What came back.
    struct Outcome {
        /// The head as the server sent it; nil without one.
        var response: HTTPResponse?
        /// Whether a byte of the body came.
        var hasBody = false
        /// What the request ended with; nil while it goes on, or when it succeeded.
        var error: WebImageError?
    }

    var url: URL
    var kind: Kind
    /// Seconds for which the host wants to be left alone.
    var retryAfter: Double?
    /// Where the first of the download's requests went; nil when it was not sent elsewhere from there.
    var origin: URL?

    /// - Parameters:
    ///   - url: where the request was sent.
    ///   - wallTime: seconds since 1970.
    init(_ url: URL, _ outcome: Outcome, wallTime: @autoclosure () -> Double) {
        self.url = outcome.response?.url ?? url
        kind = Self.kind(outcome)
        if let response = outcome.response, Self.asks(response.statusCode) {
            retryAfter = response.retryAfter(wallTime: wallTime())
        }
    }

    /// Whether `Retry-After` speaks for the host, with this status, and not for the resource.
    static func asks(_ status: Int) -> Bool { status == 429 || status == 503 }

    private static func kind(_ outcome: Outcome) -> Kind {
        if let status = outcome.response?.statusCode, (502...504).contains(status) { return .failed }
        switch outcome.error?.code {
        case .cannotFindHost?, .cannotConnectToHost?, .networkConnectionLost?, .timedOut?, .secureConnectionFailed?:
            break
        default: return outcome.response == nil ? .silent : .answered
        }
        if outcome.hasBody {
            // A server that stalls, or a limit of one's own that is too low for what it sends: nobody can tell.
            return outcome.error?.code == .timedOut ? .silent : .answered
        }
        if let error = outcome.error, error.code == .secureConnectionFailed {
            return CurlErrorMapping.isBrokenHandshake(error) ? .failed : .silent
        }
        return .failed
    }
}
