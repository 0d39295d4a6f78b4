public import FoundationEssentials

/// The request that a download sends.
///
/// A value: modifiers get a copy and return another.
public struct DownloadRequest: Sendable, Hashable {
    /// The URL, http or https. Changing it changes neither the image's cache key nor which loads are coalesced.
    public var url: URL
    /// The method. GET by default.
    public var method: String
    /// The fields.
    public var headers: HTTPHeaders
    /// The body; nil for none.
    public var body: Data?
    /// The time in seconds without any received byte after which the download fails; 0 means the config's.
    public var timeout: Double
    /// The credential for the server's challenges; nil for none.
    public var credential: WebImageCredential?
    /// Indicates whether cookies are sent and kept.
    package var handlesCookies: Bool
    /// Indicates whether the server's certificate must be trusted.
    package var verifiesCertificates: Bool
    /// The number of this attempt, 1 for the first.
    package let attempt: Int

    /// Creates a request.
    package init(
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
    /// Indicates whether it is a GET without a body, like nearly all requests.
    package var isPlainGet: Bool { method == "GET" && body == nil }
}
