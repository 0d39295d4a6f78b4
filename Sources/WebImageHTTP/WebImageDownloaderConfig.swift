/// The order in which waiting downloads of one priority start.
public enum WebImageDownloaderExecutionOrder: Int, Sendable, Hashable {
    /// The oldest first.
    case fifo = 0
    /// The newest first.
    case lifo = 1
}

/// The settings of a ``WebImageDownloader``: limits, timeouts and credentials.
///
/// The downloader keeps a copy. Changes of its ``maxConcurrentDownloads`` and ``executionOrder`` take effect at once; all other
/// changes apply to downloads that start afterwards, unless stated otherwise.
public struct WebImageDownloaderConfig: Sendable, Hashable {
    /// The proxy that requests go through.
    public enum Proxy: Sendable, Hashable {
        /// The proxy of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        case environment
        /// No proxy, whatever the environment says.
        case none
        /// A specific proxy, for example `http://proxy.example:3128`.
        case url(String)
    }

    private static let template = Lock(WebImageDownloaderConfig())

    /// The config of downloaders that are created without one; also of ``WebImageDownloader/shared``, if changed before its first
    /// use.
    public static var `default`: WebImageDownloaderConfig {
        get { template.withLock { $0 } }
        set { template.withLock { $0 = newValue } }
    }

    /// The maximum number of concurrent downloads. 6 by default; values below 1 count as 1.
    public var maxConcurrentDownloads = 6
    /// The order in which waiting downloads of one priority start. The oldest first by default.
    public var executionOrder: WebImageDownloaderExecutionOrder = .fifo

    /// The number of seconds without any byte after which a connected download fails with ``WebImageError/Code/timedOut``; also the
    /// period over which ``minimumBytesPerSecond`` is measured. 15 by default; 0 is read as 15.
    public var downloadTimeout: Double = 15
    /// The time limit for DNS lookup, connecting and the TLS handshake, in seconds. 10 by default; 0 is read as 10.
    public var connectTimeout: Double = 10
    /// The time limit of a whole download, including redirects, in seconds. 0, the default, means no limit: a big image over a slow
    /// network may take its time as long as ``minimumBytesPerSecond`` is reached. All parts of a video together count as one download.
    public var totalTimeout: Double = 0
    /// The minimum average rate over ``downloadTimeout``, in bytes per second. A slower download fails with
    /// ``WebImageError/Code/timedOut``, so that a server that sends a byte per second cannot hold it forever. 100 by default; 0
    /// means no limit.
    public var minimumBytesPerSecond = 100

    /// The minimum growth, as a fraction of the whole (0...1), between two progress reports, and between two decoding steps of
    /// previews (``WebImageOptions/progressiveLoad``). 0, the default, reports every arrival. Downloads of unknown size, such as
    /// chunked ones, report every arrival; their previews have a step when the body has grown by that fraction of its size at the
    /// last step.
    public var minimumProgressInterval: Double = 0

    /// The credential for the server's challenges (Basic, Digest); wins over ``username`` and ``password``. Never sent to another
    /// host after a redirect, nor to a proxy, whose user name and password are part of its URL. Nil by default.
    public var urlCredential: WebImageCredential?
    /// The user name, if there is no ``urlCredential``.
    public var username: String?
    /// The password, if there is no ``urlCredential``.
    public var password: String?

    /// The accepted statuses; others fail with ``WebImageError/Code/invalidDownloadStatusCode``. 200..<300 by default; nil accepts
    /// all. A 304 always fails with ``WebImageError/Code/cacheNotModified``.
    public var acceptableStatusCodes: RangeSet<Int>? = RangeSet(200..<300)
    /// The accepted content types, in lower case and without parameters; others fail with
    /// ``WebImageError/Code/invalidDownloadContentType``. Nil, the default, accepts all. A response without a type is always
    /// accepted.
    public var acceptableContentTypes: Set<String>?

    /// The maximum number of bytes of a body, both on the wire and after content decoding. 64 MiB by default. A larger one fails
    /// with ``WebImageError/Code/limitExceeded``, before anything is received if the response announces its length.
    public var maximumResponseByteCount = 64 << 20
    /// The maximum number of bytes of a video that are transferred for a still. 16 MiB by default. More fail with
    /// ``WebImageError/Code/limitExceeded``. Loads of images whose URL's path ends with the extension of a video request only the
    /// parts that they need. From a server without ranges, this many bytes from the beginning are read.
    public var maximumVideoByteCount = 16 << 20
    /// The maximum number of bytes of all response heads of a download. 64 KiB by default.
    package var maximumResponseHeaderByteCount = 64 << 10
    /// The maximum number of fields in all response heads of a download. 250 by default.
    package var maximumResponseHeaderCount = 250
    /// The maximum number of redirects. 10 by default; more fail with ``WebImageError/Code/badRedirect``.
    public var maximumRedirectCount = 10
    /// A Boolean value that indicates whether redirects from https to http are followed. False by default: they fail with
    /// ``WebImageError/Code/badRedirect``. Redirects to schemes other than http and https always fail.
    public var allowsInsecureRedirects = false

    /// The retry policy for failed downloads, unless ``WebImageContext/retryPolicy`` overrides it. No retries by default. Read when
    /// a download fails. While a download waits, callers can join and leave it, and its slot is free for others; ``totalTimeout``
    /// applies to each attempt.
    public var retryPolicy: DownloadRetryPolicy = .never

    /// The directory in which interrupted bodies are kept, so that the next download of the same image, in this process or another
    /// one, requests only the rest. Created when it is first needed, with mode 0700.
    ///
    /// Nil, the default, keeps nothing on disk; the attempts of one download still resume where the previous one broke off.
    /// ``WebImageDownloader/shared`` uses `partial` in ``ImageCache/defaultDiskCacheDirectory`` unless its config names a
    /// directory. A body is kept from 4 KiB on if the response has a strong validator, no content coding and no `Cache-Control:
    /// no-store`, and the request is a plain GET. It is kept for the URL with the header fields, credential and options of the
    /// request, so a body received with access rights is not used without them; with ``WebImageOptions/handleCookies``, nothing is
    /// kept on disk. The files reveal neither URLs nor secrets. A kept body is verified by the validator, which the server must
    /// repeat, and by its last 4 KiB, which are received again. Bodies are kept for 7 days at most, and not more than 64 MiB of them.
    public var partialDownloadDirectory: String?
    /// The maximum number of bytes on disk in ``partialDownloadDirectory``, for all processes that use it with this limit; the
    /// oldest bodies are evicted first. 64 MiB by default; 0 keeps nothing, and removes existing bodies.
    package var maximumPartialByteCount = 64 << 20
    /// The number of seconds for which an interrupted body is kept. 7 days by default.
    package var maximumPartialAge: Double = 7 * 86_400

    /// The back-off of hosts that fail repeatedly or ask clients to wait. ``HostBackOffPolicy/default`` by default. Read when a
    /// download would start and when it fails; a change resets the state of all hosts.
    public var hostBackOff: HostBackOffPolicy = .default

    /// The number of seconds without a response head after which a second, identical request is sent (hedging); the first head
    /// wins, and the other request is cancelled. Nil, the default, means never. Only plain GETs are hedged, at most a tenth of
    /// the running ones at a time, but always at least one.
    ///
    /// Hedging helps against the few responses that take far longer than most, at the cost of up to a tenth more requests. A good
    /// delay is one within which nineteen of twenty responses arrive.
    public var hedgeDelay: Double?

    /// The policy for sources and the cost of their responses. Its limits apply where they are tighter than the config's. Under
    /// any policy except ``SourcePolicy/trusted``, downloads use no credentials, cookies or proxies, and keep no interrupted bodies.
    /// Trusted by default.
    public var sourcePolicy: SourcePolicy = .trusted

    /// The proxy. The environment's proxy by default.
    public var proxy: Proxy = .environment
    /// A PEM file of certificate authorities to trust in place of the system's. Nil by default.
    public var certificateAuthorityFile: String?

    /// Creates a config with the defaults.
    public init() {}

    var credential: WebImageCredential? {
        if let urlCredential { return urlCredential }
        guard let username, let password else { return nil }
        return WebImageCredential(user: username, password: password)
    }
}
