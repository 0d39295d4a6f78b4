public import FoundationEssentials

/// What will be sent for a download.
///
/// A value: whoever changes it gets a copy and returns another.
public struct DownloadRequest: Sendable, Hashable {
    /// Where it goes, over http or https. Another one changes neither the picture's key nor which callers share.
    public var url: URL
    /// The method. GET by default.
    public var method: String
    /// The fields.
    public var headers: HTTPHeaders
    /// The body; nil for none.
    public var body: Data?
    /// Seconds without any byte after which the download fails; 0 means the config's.
    public var timeout: Double
    /// What the server's challenges are answered with; nil for nothing.
    public var credential: WebImageCredential?
    /// Whether cookies are sent and kept.
    public var handlesCookies: Bool
    /// Whether the server's certificate must be trusted.
    public var verifiesCertificates: Bool
    /// Which attempt of the download it is, 1 for the first.
    public let attempt: Int

    /// A request.
    public init(
        url: URL,
        method: String = "GET",
        headers: HTTPHeaders = [:],
        body: Data? = nil,
        timeout: Double = 0,
        credential: WebImageCredential? = nil,
        handlesCookies: Bool = false,
        verifiesCertificates: Bool = true,
        attempt: Int = 1
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.credential = credential
        self.handlesCookies = handlesCookies
        self.verifiesCertificates = verifiesCertificates
        self.attempt = attempt
    }
}

extension DownloadRequest {
    /// Whether it is what nearly all are.
    package var isPlainGet: Bool { method == "GET" && body == nil }
}
