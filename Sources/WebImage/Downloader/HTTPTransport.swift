import FoundationEssentials

/// A name and a password.
public struct WebImageCredential: Sendable, Hashable {
    /// The user's name.
    public var user: String
    /// The password.
    public var password: String

    /// A name and a password.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// What a transport is asked to fetch with GET, and within which bounds.
struct HTTPTransferRequest: Sendable {
    var url: URL
    var headers: HTTPHeaders = [:]
    var credential: WebImageCredential?
    var handlesCookies = false
    var verifiesCertificates = true
    var certificateAuthorityFile: String?
    var proxy: WebImageDownloaderConfig.Proxy = .environment
    var maximumRedirectCount = 10
    var allowsInsecureRedirects = false
    var maximumByteCount = 64 << 20
    var maximumHeaderByteCount = 64 << 10
    var maximumHeaderCount = 100
    /// Seconds for finding the host, connecting and the TLS handshake.
    var connectTimeout: Double = 10
    var timer = TransferTimer.Limits()
}

/// Who receives the parts of a transfer. Calls come one after the other, on a thread of the transport; they must not block.
protocol HTTPTransferSink: AnyObject, Sendable {
    /// The head of the final response, redirects followed. An answer refuses the response and is what the transfer ends
    /// with.
    func didReceive(_ response: HTTPResponse) -> WebImageError?
    /// The next bytes of the body, content decoding undone; valid during the call only. An answer ends the transfer.
    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError?
    /// The end, exactly once, and nothing after it; may be left out after a cancel.
    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics)
}

/// A transfer under way.
protocol HTTPTransfer: AnyObject, Sendable {
    /// Gives up soon; the sink may be called until then.
    func cancel()
}

/// Moves requests and responses. The library's own is ``CurlTransport``; tests put another in its place.
protocol HTTPTransport: AnyObject, Sendable {
    /// Starts a transfer at once; how many run at a time is the caller's business.
    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer
    /// Ends after the transfers under way; later ones fail with ``WebImageError/Code/invalidDownloadOperation``.
    func invalidate()
}

/// What the transport's own library said, kept as the cause of an error.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The library's number, for libcurl a `CURLcode`.
    public let code: Int
    /// The library's words.
    public let message: String

    init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    /// Words and number.
    public var description: String { "\(message) [curl \(code)]" }
}
