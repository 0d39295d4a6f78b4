import CCurl
import CLinux
import FoundationEssentials

/// Lines of text as a libcurl list; freed with the object.
final class CurlTextList {
    let list: UnsafeMutablePointer<curl_slist>?

    init(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) ?? list }
        self.list = list
    }

    deinit { curl_slist_free_all(list) }
}

/// A request's header fields as a libcurl list.
final class CurlHeaderList {
    let lines: CurlTextList
    private let headers: HTTPHeaders
    private let hasBody: Bool

    init(_ request: HTTPTransferRequest) {
        (headers, hasBody) = (request.headers, request.sendsBody)
        // "Name:" removes a field of libcurl's own; a semicolon stands for an empty value.
        var lines = headers.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        // libcurl must not invent a content type, and waiting for "100 Continue" costs a second with a server that does not send
        // it.
        for name in ["Content-Type", "Expect"] where hasBody && headers[name] == nil { lines.append("\(name):") }
        self.lines = CurlTextList(lines)
    }

    /// Returns whether the list also fits `request`.
    func serves(_ request: HTTPTransferRequest) -> Bool {
        hasBody == request.sendsBody && headers == request.headers
    }
}

/// One of libcurl's easy handles, with all options set that are the same for every request. Used by one thread.
final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    /// True while another request may use the handle: libcurl keeps users, cookies and certificate stores in it.
    private(set) var isRecyclable = true
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: CurlHeaderList?
    private var pins: CurlTextList?
    private var profile: Profile?

    init?() {
        guard Self.isLibraryReady, let easy = curl_easy_init() else { return nil }
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setConstants()
    }

    deinit {
        curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// Initializes libcurl. If the program has done so before, this has no effect and the program's allocator stays.
    static let isLibraryReady = {
        // Programs that load libcurl with its first function have OpenSSL from here on.
        _ = curl_easy_strerror(CURLE_OK)
        webimage_keep_openssl_at_exit()
        return curl_global_init_mem(
            Int(CURL_GLOBAL_DEFAULT),
            webimage_transfer_malloc,
            webimage_transfer_free,
            webimage_transfer_realloc,
            webimage_transfer_strdup,
            webimage_transfer_calloc
        ) == CURLE_OK
    }()

    /// libcurl's message for the last failure.
    var errorMessage: String { String(cString: errorText) }

    private func setConstants() {
        set(CURLOPT_NOSIGNAL, 1)
        // Without this option, a transfer that ends during its DNS lookup would wait for the resolver and block all other
        // transfers.
        webimage_curl_quit_look_ups(easy)
        set(CURLOPT_BUFFERSIZE, 256 << 10)
        set(CURLOPT_SSLVERSION, webimage_curl_tls_1_2)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_NOPROGRESS, 0)
        webimage_curl_allow_only_http(easy)
        // Each of these options is off by default; the source policy depends on it.
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // libcurl counts authenticated retries as redirects. A server may declare any number of Digest nonces stale.
        set(CURLOPT_MAXREDIRS, 10)
        set(CURLOPT_NETRC, 0)
        webimage_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        webimage_curl_set_write(easy, CURLOPT_WRITEFUNCTION, curlDidReceiveBody)
        webimage_curl_set_write(easy, CURLOPT_HEADERFUNCTION, curlDidReceiveHeader)
        webimage_curl_set_progress(easy, curlDidProgress)
        webimage_curl_set_debug(easy, curlDidLog)
        webimage_curl_set_before_request(easy, curlWillSendRequest)
        webimage_curl_set_open_socket(easy, curlWillOpenSocket)
        webimage_curl_set_close_socket(easy, curlWillCloseSocket)
    }

    /// Sets all options that differ between requests; false if there is no memory for the body. `context` is passed to the
    /// callbacks and must outlive the transfer. `watchdog` must outlive all connections.
    func configure(
        for request: HTTPTransferRequest,
        headers: CurlHeaderList,
        cookies: UnsafeMutableRawPointer?,
        watchdog: CurlWatchdog,
        context: UnsafeMutableRawPointer
    ) -> Bool {
        errorText.pointee = 0
        headerList = headers
        let address = HostName.address(of: request.url)
        set(CURLOPT_URL, address)
        webimage_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers.lines.list)
        for option in [
            CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_XFERINFODATA, CURLOPT_PRIVATE, CURLOPT_OPENSOCKETDATA,
            CURLOPT_DEBUGDATA,
        ] {
            webimage_curl_set_pointer(easy, option, context)
        }
        webimage_curl_set_before_request_context(easy, context)
        webimage_curl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(watchdog).toOpaque())
        apply(Profile(request))
        if request.credential != nil || DownloaderCore.authority(of: address, contains: UInt8(ascii: "@")) {
            isRecyclable = false
            // Uses Digest if the server offers it; no credentials are sent before the server asks.
            set(CURLOPT_HTTPAUTH, webimage_curl_auth_basic_and_digest)
        }
        if let credential = request.credential {
            set(CURLOPT_USERNAME, credential.user)
            set(CURLOPT_PASSWORD, credential.password)
        }
        if let file = request.certificateAuthorityFile {
            isRecyclable = false
            set(CURLOPT_CAINFO, file)
        }
        if let cookies {
            isRecyclable = false
            webimage_curl_set_pointer(easy, CURLOPT_SHARE, cookies)
            set(CURLOPT_COOKIEFILE, "")
        }
        return request.isPlainGet || setMethod(of: request)
    }

    /// Restricts the request's host to the addresses that a resolver returns.
    func pin(_ url: URL, by resolver: HostResolver) {
        if pins != nil {
            webimage_curl_set_pointer(easy, CURLOPT_RESOLVE, nil)
            pins = nil
        }
        guard let target = CurlAddress(HostName.address(of: url)) else { return }
        let addresses = resolver(target.host, target.port)
        guard !addresses.isEmpty else { return }
        let texts = addresses.map { $0.family == .v6 ? "[\($0)]" : "\($0)" }
        let pins = CurlTextList(["\(target.host):\(target.port):\(texts.joined(separator: ","))"])
        webimage_curl_set_pointer(easy, CURLOPT_RESOLVE, pins.list)
        self.pins = pins
    }

    private func setMethod(of request: HTTPTransferRequest) -> Bool {
        isRecyclable = false
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
            return true
        }
        if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
        guard request.sendsBody else { return true }
        let body = request.body ?? Data()
        webimage_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int(body.count))
        // libcurl copies the body: the bytes of a `Data` can move.
        return body.withUnsafeBytes { bytes in
            webimage_curl_set_bytes(easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(errorText))
                == CURLE_OK
        }
    }

    /// Options that rarely differ from one request to the next.
    private struct Profile: Equatable {
        var connectMilliseconds: Int
        var verifiesCertificates: Bool
        var isSecure: Bool
        /// True under a source policy other than trusted.
        var isChecked: Bool
        var countsFraming: Bool
        var proxy: WebImageDownloaderConfig.Proxy

        init(_ request: HTTPTransferRequest) {
            let milliseconds = Int(TransferTimer.nanoseconds(request.connectTimeout) / 1_000_000)
            connectMilliseconds = max(1, min(milliseconds, 100_000_000))
            isChecked = request.sourcePolicy.map { !$0.isTrusted } ?? false
            countsFraming = isChecked
            verifiesCertificates = request.verifiesCertificates
            isSecure = DownloaderCore.isSecure(request.url)
            proxy = isChecked ? .none : request.proxy
        }
    }

    private func apply(_ profile: Profile) {
        guard profile != self.profile else { return }
        self.profile = profile
        // HTTP/2 frames without content cost a server nothing, and libcurl does not count them, so an untrusted source gets
        // HTTP/1.1.
        set(CURLOPT_HTTP_VERSION, profile.isChecked ? webimage_curl_http_1_1 : webimage_curl_http_2_over_tls)
        set(CURLOPT_CONNECTTIMEOUT_MS, profile.connectMilliseconds)
        set(CURLOPT_SSL_VERIFYPEER, profile.verifiesCertificates ? 1 : 0)
        set(CURLOPT_SSL_VERIFYHOST, profile.verifiesCertificates ? 2 : 0)
        // Waiting until the first connection has negotiated HTTP/2 saves the other connections. Without TLS, libcurl would know
        // only with the first response, however slow.
        set(CURLOPT_PIPEWAIT, profile.isSecure ? 1 : 0)
        // An empty string means every encoding that this libcurl supports.
        set(CURLOPT_ACCEPT_ENCODING, profile.isChecked ? nil : "")
        webimage_curl_set_unchecked_connections(easy, profile.isChecked)
        setProxy(profile.proxy)
        // Only the debug callback reports a body's bytes before its chunks are decoded. It costs some formatted texts for each
        // request.
        set(CURLOPT_VERBOSE, profile.countsFraming || !webimage_curl_calls_before_request() ? 1 : 0)
    }

    /// Starts counting the bytes of chunk framing, until the next request.
    func countFraming() {
        guard profile?.countsFraming == false else { return }
        profile?.countsFraming = true
        set(CURLOPT_VERBOSE, 1)
    }

    private func setProxy(_ proxy: WebImageDownloaderConfig.Proxy) {
        switch proxy {
        case .environment: set(CURLOPT_PROXY, nil)
        case .none: set(CURLOPT_PROXY, "")
        case .url(let address): set(CURLOPT_PROXY, address)
        }
    }

    private func set(_ option: CURLoption, _ value: Int) { webimage_curl_set_long(easy, option, value) }
    private func set(_ option: CURLoption, _ value: String?) {
        guard let value else {
            webimage_curl_set_string(easy, option, nil)
            return
        }
        // An implicit conversion would copy the text, and libcurl copies it again.
        _ = value.withCString { webimage_curl_set_string(easy, option, $0) }
    }
}
