public import FoundationEssentials

/// What a transport is asked to send, and within which bounds.
public struct HTTPTransferRequest: Sendable {
    /// Where it goes, over http or https.
    public var url: URL
    /// The method; a token. GET by default.
    public var method = "GET"
    /// The fields, all of them valid. What describes the body's length is not among them.
    public var headers: HTTPHeaders = [:]
    /// The body; nil for none.
    public var body: Data?
    /// What the server's challenges are answered with, and never sent to another host; nil for nothing.
    public var credential: WebImageCredential?
    /// Whether cookies are sent and kept.
    public var handlesCookies = false
    /// Whether the server's certificate must be trusted.
    public var verifiesCertificates = true
    /// A PEM file of certificate authorities in place of the system's.
    public var certificateAuthorityFile: String?
    /// The proxy.
    public var proxy: WebImageDownloaderConfig.Proxy = .environment
    /// Most bytes of the body, on the wire as well as with its content coding undone.
    public var maximumByteCount = 64 << 20
    /// Most bytes of all response heads.
    public var maximumHeaderByteCount = 64 << 10
    /// Most fields in all response heads.
    public var maximumHeaderCount = 250
    /// Seconds for finding the host, connecting and the TLS handshake.
    public var connectTimeout: Double = 10
    /// Seconds without any byte after which a connected transfer fails.
    public var idleTimeout: Double = 15
    /// Seconds that the whole transfer may take; 0 for no limit.
    public var totalTimeout: Double = 0
    /// Bytes that must come each second on average over ``idleTimeout``; 0 for no limit.
    public var minimumBytesPerSecond = 100
    /// What may be asked; nil for everything. A transport that says ``HTTPTransport/checksAddresses`` asks
    /// ``SourcePolicy/refusal(ofHost:port:at:)`` for each address before it connects to it and before it sends over a connection that it
    /// has kept, goes through no proxy, and undoes no content coding.
    public var sourcePolicy: SourcePolicy?
    /// Seconds without a head after which a second request is sent; nil for never.
    var hedgeDelay: Double?

    /// A GET with the default bounds.
    public init(url: URL, headers: HTTPHeaders = [:]) {
        self.url = url
        self.headers = headers
    }
}

extension HTTPTransferRequest {
    /// Whether it is what nearly all are.
    var isPlainGet: Bool { body == nil && method == "GET" }

    /// Whether a body is sent, if only an empty one, as servers expect it with these methods.
    var sendsBody: Bool { body != nil || method != "GET" && ["POST", "PUT", "PATCH"].contains(method) }
}

/// Who receives the parts of a transfer. Calls come one after the other, on a thread of the transport; they do not block.
public protocol HTTPTransferSink: AnyObject, Sendable {
    /// The head of the response: interim ones are left out. An answer refuses the response and is what the transfer ends with.
    func didReceive(_ response: HTTPResponse) -> WebImageError?
    /// The next bytes of the body, content decoding undone; valid during the call only. An answer ends the transfer.
    func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError?
    /// The end, exactly once, and nothing after it; may be left out after a cancel.
    func didFinish(_ error: WebImageError?, metrics: DownloadMetrics)
}

/// A transfer under way.
public protocol HTTPTransfer: AnyObject, Sendable {
    /// Gives up soon; the sink may be called until then. May be called after the end.
    func cancel()
}

/// Moves requests and responses for a ``WebImageDownloader``, which looks after everything else: who shares a transfer, how
/// many run, what is taken for a good response, and what is tried again. The library's own is ``CurlTransport``; one of your own
/// may go anywhere, or pass requests on to another.
public protocol HTTPTransport: AnyObject, Sendable {
    /// Starts a transfer at once; how many run at a time is the caller's business. Redirects are responses like any other: the
    /// downloader follows them.
    ///
    /// The sink may be called before this returns. All bounds of the request are the transport's to keep, of which those of the
    /// body's size are checked again.
    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer
    /// Ends after the transfers under way; later ones fail with ``WebImageError/Code/invalidDownloadOperation``.
    func invalidate()
    /// Whether it does what ``HTTPTransferRequest/sourcePolicy`` asks for. With one that does not, requests under a policy other than
    /// ``SourcePolicy/trusted`` fail with ``WebImageError/Code/sourceRefused``. False by default.
    var checksAddresses: Bool { get }
}

extension HTTPTransport {
    /// False.
    public var checksAddresses: Bool { false }
}

/// What the transport's own library said, kept as the cause of an error.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The library's number, for libcurl a `CURLcode`.
    public let code: Int
    /// The library's words.
    public let message: String

    /// Words and number.
    public var description: String { "\(message) [curl \(code)]" }
}

extension HTTPTransferRequest {
    /// What a transport is asked for a download's request, within the config's bounds.
    init(_ request: DownloadRequest, config: WebImageDownloaderConfig) {
        self.init(url: request.url, headers: request.headers)
        method = request.method
        body = request.body
        // The length is the transport's to say: another would make the server wait, or take the rest for a second request.
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
