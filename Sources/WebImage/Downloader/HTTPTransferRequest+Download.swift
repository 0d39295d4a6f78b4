import FoundationEssentials

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
        maximumRedirectCount = config.maximumRedirectCount
        allowsInsecureRedirects = config.allowsInsecureRedirects
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
