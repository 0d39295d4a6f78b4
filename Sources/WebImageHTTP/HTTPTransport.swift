public import FoundationEssentials

/// A request for a transport, with its limits.
public struct HTTPTransferRequest: Sendable {
    /// The URL, with the scheme http or https.
    public var url: URL
    /// The method; a token. GET by default.
    public var method = "GET"
    /// The header fields, all of them valid, without those that describe the body's length.
    public var headers: HTTPHeaders = [:]
    /// The body; nil for none.
    public var body: Data?
    /// The credential for the server's challenges, never sent to another host; nil for none.
    public var credential: WebImageCredential?
    /// A Boolean value that indicates whether cookies are sent and stored.
    public var handlesCookies = false
    /// A Boolean value that indicates whether the server's certificate must be trusted.
    public var verifiesCertificates = true
    /// A PEM file of certificate authorities in place of the system's.
    public var certificateAuthorityFile: String?
    /// The proxy.
    public var proxy: WebImageDownloaderConfig.Proxy = .environment
    /// The maximum number of bytes of the body, both on the wire and after content decoding.
    public var maximumByteCount = 64 << 20
    /// The maximum number of bytes of all response heads.
    package var maximumHeaderByteCount = 64 << 10
    /// The maximum number of fields in all response heads.
    package var maximumHeaderCount = 250
    /// The time limit for DNS lookup, connecting and the TLS handshake, in seconds.
    public var connectTimeout: Double = 10
    /// The number of seconds without any byte after which a connected transfer fails.
    public var idleTimeout: Double = 15
    /// The time limit of the whole transfer, in seconds; 0 for none.
    public var totalTimeout: Double = 0
    /// The minimum transfer rate in bytes per second, averaged over ``idleTimeout``; 0 for none.
    package var minimumBytesPerSecond = 100
    /// The policy for the transfer's addresses; nil allows all. A transport with ``HTTPTransport/checksAddresses`` calls
    /// ``SourcePolicy/refusal(ofHost:port:at:)`` for each address before it connects to it and before it sends over a kept
    /// connection, uses no proxy, and does no content decoding.
    public var sourcePolicy: SourcePolicy?
    /// The number of seconds without a response head after which a second (hedged) request is sent; nil for never.
    var hedgeDelay: Double?

    /// Creates a GET request with the default limits.
    package init(url: URL, headers: HTTPHeaders = [:]) {
        self.url = url
        self.headers = headers
    }
}

extension HTTPTransferRequest {
    /// True for a GET without a body, as nearly all requests are.
    var isPlainGet: Bool { body == nil && method == "GET" }

    /// True if a body is sent, even an empty one, as servers expect it with these methods.
    var sendsBody: Bool { body != nil || method != "GET" && ["POST", "PUT", "PATCH"].contains(method) }
}

/// Receives the parts of a transfer. Calls are serial, on a thread of the transport, and must not block.
public protocol HTTPTransferSink: AnyObject, Sendable {
    /// Called with the response head; interim responses are left out. A returned error refuses the response and ends the transfer
    /// with it.
    func didReceive(_ response: HTTPResponse) -> WebImageError?
    /// Called with the next bytes of the body, after content decoding; they are valid only during the call. A returned error ends
    /// the transfer.
    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError?
    /// Called exactly once at the end, with no calls after it; may be omitted after a cancellation.
    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics)
}

/// A running transfer.
public protocol HTTPTransfer: AnyObject, Sendable {
    /// Cancels the transfer soon; the sink may be called until then. May be called after the end.
    func cancel()
}

/// Performs requests for a ``WebImageDownloader``, which does everything else: coalescing, concurrency limits, response checks and
/// retries. The library's transport is ``CurlTransport``; a custom transport may load from anywhere, or forward requests to
/// another.
public protocol HTTPTransport: AnyObject, Sendable {
    /// Starts a transfer at once; the caller limits the number of concurrent transfers. Redirects are delivered like any other
    /// response: the downloader follows them.
    ///
    /// The sink may be called before this method returns. The transport must enforce all limits of the request; the limits of the
    /// body's size are checked again.
    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer
    /// Shuts down after the running transfers; later ones fail with ``WebImageError/Code/invalidDownloadOperation``.
    func invalidate()
    /// A Boolean value that indicates whether the transport enforces ``HTTPTransferRequest/sourcePolicy``. If not, requests under a
    /// policy other than ``SourcePolicy/trusted`` fail with ``WebImageError/Code/sourceRefused``. False by default.
    var checksAddresses: Bool { get }
}

extension HTTPTransport {
    /// Returns false.
    public var checksAddresses: Bool { false }
}

/// An error of the transport's underlying library, kept as the cause of an error.
package struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The library's error code, for libcurl a `CURLcode`.
    package let code: Int
    /// The library's message.
    package let message: String

    /// The message and the error code.
    package var description: String { "\(message) [curl \(code)]" }
}

extension HTTPTransferRequest {
    /// Creates a transport request for a download's request, with the config's limits.
    init(_ request: DownloadRequest, config: WebImageDownloaderConfig) {
        self.init(url: request.url, headers: request.headers)
        method = request.method
        body = request.body
        // The transport sets the length: a wrong one would make the server wait, or parse the rest as a second request.
        for name in ["Content-Length", "Transfer-Encoding"] where headers[name] != nil { headers[name] = nil }
        credential = request.credential
        handlesCookies = request.handlesCookies
        verifiesCertificates = request.verifiesCertificates
        certificateAuthorityFile = config.certificateAuthorityFile
        proxy = config.proxy
        maximumByteCount = config.maximumResponseByteCount
        maximumHeaderByteCount = config.maximumResponseHeaderByteCount
        maximumHeaderCount = config.maximumResponseHeaderCount
        connectTimeout = config.connectTimeout > 0 ? config.connectTimeout : 10
        idleTimeout = request.timeout > 0 ? request.timeout : config.downloadTimeout > 0 ? config.downloadTimeout : 15
        totalTimeout = config.totalTimeout > 0 ? config.totalTimeout : 0
        hedgeDelay = config.hedgeDelay
        minimumBytesPerSecond = max(config.minimumBytesPerSecond, 0)
        apply(config.sourcePolicy)
    }
}
