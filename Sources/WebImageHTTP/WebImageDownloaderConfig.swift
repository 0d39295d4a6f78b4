/// In which order waiting downloads of one priority start.
public enum WebImageDownloaderExecutionOrder: Int, Sendable, Hashable {
    /// The oldest first.
    case fifo = 0
    /// The newest first.
    case lifo = 1
}

/// How a ``WebImageDownloader`` works: its limits, times and credentials.
///
/// The downloader has its own copy. A change of ``maxConcurrentDownloads`` and ``executionOrder`` there has effect at once,
/// of everything else for downloads that start afterwards, unless said otherwise.
public struct WebImageDownloaderConfig: Sendable, Hashable {
    /// The proxy that requests go through.
    public enum Proxy: Sendable, Hashable {
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
        case environment
        /// None, whatever the environment says.
        case none
        /// This one, for example `http://proxy.example:3128`.
        case url(String)
    }

    private static let template = Lock(WebImageDownloaderConfig())

    /// What downloaders start with that are made without a config; ``WebImageDownloader/shared`` too, if it is changed before
    /// that is first used.
    public static var `default`: WebImageDownloaderConfig {
        get { template.withLock { $0 } }
        set { template.withLock { $0 = newValue } }
    }

    /// At most this many downloads run at once. 6 by default; values below 1 count as 1.
    public var maxConcurrentDownloads = 6
    /// In which order waiting downloads of one priority start. The oldest first by default.
    public var executionOrder: WebImageDownloaderExecutionOrder = .fifo

    /// Seconds without any byte after which a connected download fails with ``WebImageError/Code/timedOut``; also the stretch
    /// over which ``minimumBytesPerSecond`` is measured. 15 by default; 0 is read as 15.
    public var downloadTimeout: Double = 15
    /// Seconds for finding the host, connecting and the TLS handshake. 10 by default; 0 is read as 10.
    public var connectTimeout: Double = 10
    /// Seconds that a whole download may take, redirects included. 0, the default, is no limit: a big picture over a slow
    /// line may take its time as long as ``minimumBytesPerSecond`` holds.
    public var totalTimeout: Double = 0
    /// A download that brings less than this on average over ``downloadTimeout`` fails with
    /// ``WebImageError/Code/timedOut``, so that a server that sends a byte a second cannot hold it for ever. 100 by
    /// default; 0 is no limit.
    public var minimumBytesPerSecond = 100

    /// The least growth, as a part of the whole (0...1), between two reports of progress, and between two steps of decoding for
    /// previews (``WebImageOptions/progressiveLoad``). 0, the default, reports every arrival. Downloads of unknown size, such as
    /// chunked ones, report every arrival; for previews what has come then stands for the whole: there is a step when the body
    /// has grown by that part of what it was at the last one.
    public var minimumProgressInterval: Double = 0

    /// What the server's challenges (Basic, Digest) are answered with; wins over ``username`` and ``password``. Never sent to
    /// another host after a redirect, nor to a proxy, whose name and password are part of its URL. Nil by default.
    public var urlCredential: WebImageCredential?
    /// The user name, if there is no ``urlCredential``.
    public var username: String?
    /// The password, if there is no ``urlCredential``.
    public var password: String?

    /// Statuses that are accepted; others fail with ``WebImageError/Code/invalidDownloadStatusCode``. 200..<300 by
    /// default; nil accepts all. A 304 always fails with ``WebImageError/Code/cacheNotModified``.
    public var acceptableStatusCodes: RangeSet<Int>? = RangeSet(200..<300)
    /// Content types that are accepted, in lower case and without parameters; others fail with
    /// ``WebImageError/Code/invalidDownloadContentType``. Nil, the default, accepts all; so does a response without type.
    public var acceptableContentTypes: Set<String>?

    /// Most bytes of a body, on the wire as well as with its content coding undone. 64 MiB by default. More is
    /// ``WebImageError/Code/limitExceeded``, before anything is received if the response announces it.
    public var maximumResponseByteCount = 64 << 20
    /// Most bytes of all response heads of a download. 64 KiB by default.
    public var maximumResponseHeaderByteCount = 64 << 10
    /// Most fields in all response heads of a download. 250 by default.
    public var maximumResponseHeaderCount = 250
    /// Most redirects. 10 by default; more are ``WebImageError/Code/badRedirect``.
    public var maximumRedirectCount = 10
    /// Whether a redirect from https to http is followed. False by default: it fails with
    /// ``WebImageError/Code/badRedirect``. Redirects to anything but http and https always fail.
    public var allowsInsecureRedirects = false

    /// Whether and when a failed download is tried again, unless ``WebImageContext/retryPolicy`` says otherwise. Never by
    /// default. Looked at when a download fails. While it waits, callers can join and leave it, and others use its place;
    /// ``totalTimeout`` counts for each attempt anew.
    public var retryPolicy: DownloadRetryPolicy = .never

    /// The directory in which bodies that broke off are kept, so that the next download of the same picture, of this process or
    /// another one, asks for the rest alone. Made when it is first needed, with mode 0700.
    ///
    /// Nil, the default, keeps nothing on disk; further attempts of one download go on where the one before broke off all the same.
    /// ``WebImageDownloader/shared`` has `partial` in ``ImageCache/defaultDiskCacheDirectory`` unless the config it is made from
    /// names one. A body is kept from 4 KiB on if the response has a strong validator, no content coding and no
    /// `Cache-Control: no-store`, and the request is a plain GET. It is kept for the URL with the header fields, credential and
    /// options of the request, so what was received with somebody's rights serves nobody else; with
    /// ``WebImageOptions/handleCookies`` nothing is kept on disk. The files tell neither URLs nor secrets. What is kept is told to be
    /// the same picture by the validator, which the server must repeat, and by its last 4 KiB, which are received again.
    public var partialDownloadDirectory: String?
    /// Most bytes of disk space that are taken in ``partialDownloadDirectory``, by all processes that use it with this bound; the oldest go first.
    /// 64 MiB by default; 0 keeps nothing, and removes what there is.
    public var maximumPartialByteCount = 64 << 20
    /// Seconds for which a body that broke off is kept. 7 days by default.
    public var maximumPartialAge: Double = 7 * 86_400

    /// When and for how long hosts are left alone that fail again and again, or ask for it. ``HostBackOffPolicy/default`` by default.
    /// Looked at when a download would start and when it fails; a change forgets what is known of all hosts.
    public var hostBackOff: HostBackOffPolicy = .default

    /// Seconds without the head of a response after which a second, identical request is sent; the first head wins, and the other
    /// request is cancelled. Nil, the default, is never. Only plain GETs are sent twice, at most one in ten of those under way at a
    /// time, or one when there are fewer.
    ///
    /// Good against the few answers that take far longer than most, at the price of up to a tenth more requests: a delay that nineteen
    /// answers of twenty do not need is a good one.
    public var hedgeDelay: Double?

    /// Which sources may be asked, and what their answers may cost: bounds of the policy hold where they are tighter than the config's,
    /// and under any but ``SourcePolicy/trusted`` there are no credentials, cookies, proxies and kept parts of bodies. Trusted by default.
    public var sourcePolicy: SourcePolicy = .trusted

    /// The proxy. The environment's by default.
    public var proxy: Proxy = .environment
    /// A PEM file of certificate authorities to trust in place of the system's. Nil by default.
    public var certificateAuthorityFile: String?

    /// The defaults.
    public init() {}

    var credential: WebImageCredential? {
        if let urlCredential { return urlCredential }
        guard let username, let password else { return nil }
        return WebImageCredential(user: username, password: password)
    }
}
