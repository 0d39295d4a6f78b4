import CLinux
public import FoundationEssentials
import WebImageSupport

/// An error with its kind, URL and cause. The only error type that the library throws or delivers.
public struct WebImageError: Error, Sendable {
    /// The kind of failure. Numbers below 3000 that SDWebImage uses have the same meaning.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The number.
        public let rawValue: Int
        /// Creates a code from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The URL is missing, empty or malformed, or its scheme is not supported.
        public static let invalidURL = Code(rawValue: 1000)
        /// The bytes are not an image that can be decoded, or there were none.
        public static let badImageData = Code(rawValue: 1001)
        /// A revalidation found nothing new.
        public static let cacheNotModified = Code(rawValue: 1002)
        /// The URL failed before and is not tried again; see ``WebImageOptions/retryFailed``.
        public static let blacklisted = Code(rawValue: 1003)
        /// A limit would be exceeded; ``WebImageError/limit`` names it.
        public static let limitExceeded = Code(rawValue: 1100)
        /// No coder is registered for the format of the data, or for the requested format.
        public static let unsupportedFormat = Code(rawValue: 1101)
        /// An image could not be encoded.
        public static let encodingFailed = Code(rawValue: 1102)
        /// A transformer returned no image.
        public static let transformFailed = Code(rawValue: 1103)
        /// The system has no memory left for the pixels.
        public static let outOfMemory = Code(rawValue: 1104)
        /// The image is not in the caches, and only they were asked.
        public static let notCached = Code(rawValue: 1105)
        /// The image is not in the caches, and the manager's delegate did not allow the download.
        public static let downloadRefused = Code(rawValue: 1106)
        /// The worker process ended before it had decoded the image; ``WebImageError/message`` describes how.
        public static let decoderCrashed = Code(rawValue: 1107)
        /// The image was not decoded within the time limit.
        public static let decodeTimedOut = Code(rawValue: 1108)
        /// The image must be decoded in a worker process, and none is available: no worker program, or the system does not support
        /// the sandbox.
        public static let decoderUnavailable = Code(rawValue: 1109)
        /// The file does not have the requested page, or its coder decodes only the first; see ``ImageDecodeOptions/page``.
        public static let pageNotFound = Code(rawValue: 1110)
        /// The raw file of a camera has no embedded preview that can be decoded; ``ImageDecodeOptions/RawDevelopment/full`` develops
        /// its raw data.
        public static let previewNotFound = Code(rawValue: 1111)
        /// The download could not be created: a request modifier returned nil, or the session was invalidated.
        public static let invalidDownloadOperation = Code(rawValue: 2000)
        /// The server answered with a status that is not acceptable; see ``WebImageError/statusCode``.
        public static let invalidDownloadStatusCode = Code(rawValue: 2001)
        /// Cancelled by the caller.
        public static let cancelled = Code(rawValue: 2002)
        /// A response modifier returned nil.
        public static let invalidDownloadResponse = Code(rawValue: 2003)
        /// The response's content type is not acceptable.
        public static let invalidDownloadContentType = Code(rawValue: 2004)
        /// A time limit expired: connecting, idle, or in total.
        public static let timedOut = Code(rawValue: 2100)
        /// The host name could not be resolved.
        public static let cannotFindHost = Code(rawValue: 2101)
        /// No connection could be made.
        public static let cannotConnectToHost = Code(rawValue: 2102)
        /// The connection was lost, or the body ended before its announced length.
        public static let networkConnectionLost = Code(rawValue: 2103)
        /// The TLS handshake failed or the certificate is not trusted.
        public static let secureConnectionFailed = Code(rawValue: 2104)
        /// More redirects than allowed, or a redirect to a scheme that is not allowed.
        public static let badRedirect = Code(rawValue: 2105)
        /// Nothing was sent: the host failed too often, or asked clients to wait; see ``WebImageError/retryAfter`` and
        /// ``HostBackOffPolicy``.
        public static let hostUnavailable = Code(rawValue: 2106)
        /// The source policy refused the host, port or address; nothing was sent to it.
        public static let sourceRefused = Code(rawValue: 2107)
        /// Any other failure of the transport.
        public static let transportFailed = Code(rawValue: 2199)
        /// A file does not exist.
        public static let fileNotFound = Code(rawValue: 3000)
        /// A file exists but cannot be read or written.
        public static let fileAccessFailed = Code(rawValue: 3001)
    }

    /// An exceeded limit and the number that exceeds it.
    public struct Limit: Sendable, Hashable {
        /// The property that sets the limit, for example `maximumPixelCount`.
        public let name: String
        /// Its value.
        public let allowed: Int64
        /// The number that the input would need, as far as known.
        public let required: Int64

        /// Creates a limit with its name and the two numbers.
        package init(name: String, allowed: Int64, required: Int64) {
            self.name = name
            self.allowed = allowed
            self.required = required
        }
    }

    /// The kind of failure.
    public let code: Code
    /// The explanation: a sentence fragment in plain words, without the URL; starts in lower case, no full stop.
    public let message: String
    /// The URL that was being loaded, as far as known.
    public var url: URL?
    /// The limit, with ``Code/limitExceeded``.
    public var limit: Limit? {
        get { details?.value.limit }
        set { change { $0.limit = newValue } }
    }
    /// The HTTP status, with ``Code/invalidDownloadStatusCode``.
    public var statusCode: Int? {
        get { details?.value.statusCode }
        set { change { $0.statusCode = newValue } }
    }
    /// The response that caused the error, for example one with an unacceptable status, or a 304. Ignored when errors are compared.
    public var response: HTTPResponse? {
        get { details?.value.response }
        set { change { $0.response = newValue } }
    }
    /// The time in seconds after which a retry makes sense, counted from the moment of the failure: with ``Code/hostUnavailable``
    /// until the host may be asked again; with the statuses 429 and 503 the server's `Retry-After`, which may be any time. Nil if
    /// not known. Ignored when errors are compared.
    public var retryAfter: Double? {
        get { details?.value.retryAfter }
        set { change { $0.retryAfter = newValue } }
    }
    /// The cause, as another layer reported it.
    public var underlyingError: (any Error)? {
        get { details?.value.underlyingError }
        set { change { $0.underlyingError = newValue } }
    }

    /// The properties that few errors have. Behind a reference, because errors are copied often, a thousand at once when loads are
    /// cancelled.
    private struct Details: Sendable {
        var limit: Limit?
        var statusCode: Int?
        var response: HTTPResponse?
        var retryAfter: Double?
        var underlyingError: (any Error)?
        var isOfRefresh = false
    }

    private final class DetailsBox: Sendable {
        let value: Details

        init(_ value: Details) { self.value = value }
    }

    private var details: DetailsBox?

    private mutating func change(_ body: (inout Details) -> Void) {
        var value = details?.value ?? Details()
        body(&value)
        details = DetailsBox(value)
    }

    /// Creates an error of a kind with its explanation.
    public init(
        _ code: Code,
        _ message: String,
        url: URL? = nil,
        limit: Limit? = nil,
        statusCode: Int? = nil,
        response: HTTPResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.url = url
        guard limit != nil || statusCode != nil || response != nil || underlyingError != nil else { return }
        let details = Details(
            limit: limit,
            statusCode: statusCode,
            response: response,
            underlyingError: underlyingError
        )
        self.details = DetailsBox(details)
    }

    /// Returns the error for an exceeded limit.
    public static func limitExceeded(_ name: String, allowed: Int, required: Int) -> WebImageError {
        WebImageError(
            .limitExceeded,
            "\(required) is over the limit \(name) = \(allowed)",
            limit: Limit(name: name, allowed: Int64(allowed), required: Int64(required))
        )
    }

    /// Returns the error of a cancelled load.
    public static func cancelled(_ url: URL? = nil) -> WebImageError {
        WebImageError(.cancelled, "the load was cancelled", url: url)
    }

    /// Returns the error of a load that may only use the caches and finds nothing there.
    package static func notCached(_ url: URL? = nil) -> WebImageError {
        WebImageError(.notCached, "the image is not in the cache, and only the cache was asked", url: url)
    }

    /// Indicates whether the load was a refresh of a cached image: then the URL is not marked as failed, because the cached image
    /// would no longer be delivered either.
    package var isOfRefresh: Bool { details?.value.isOfRefresh ?? false }

    /// The same error as that of a refresh.
    package var ofRefresh: WebImageError {
        var copy = self
        copy.change { $0.isOfRefresh = true }
        return copy
    }

    /// Returns the same error with `url`, unless it already has one.
    package func with(url: URL?) -> WebImageError {
        guard self.url == nil else { return self }
        var copy = self
        copy.url = url
        return copy
    }
}

extension WebImageError: CustomStringConvertible {
    /// The URL, the explanation and the cause in one line. User name, password and the values of secret parameters are left out of
    /// the URL.
    public var description: String {
        var text = ""
        if let url { text += "\(PrintableAddress(url.absoluteString)): " }
        text += message
        if let underlyingError { text += " (\(underlyingError))" }
        return text
    }
}

extension WebImageError: Equatable {
    /// Returns whether code, URL, limit and status are equal.
    public static func == (left: WebImageError, right: WebImageError) -> Bool {
        left.code == right.code && left.url == right.url && left.limit == right.limit
            && left.statusCode == right.statusCode
    }
}

extension DetachedThread {
    /// The error of a process that was forked from one with threads of the library: the threads do not exist in it, so waiting for
    /// them would never end. Nil in all other processes.
    package static var forkProblem: WebImageError? {
        guard webimage_has_lost_threads() else { return nil }
        return WebImageError(.invalidDownloadOperation, "the process was forked after the library had started threads")
    }
}
