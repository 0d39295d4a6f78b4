import CCurl
import FoundationEssentials

/// One transfer on the event loop: libcurl's callbacks come in, the sink's calls go out.
final class CurlTransfer: HTTPTransfer, @unchecked Sendable {
    // Sendable because, after `init`, everything but `cancel` is only called on the loop's thread, and `cancel` reads
    // nothing but constants.

    let request: HTTPTransferRequest
    private let loop: CurlLoop
    private(set) var sink: (any HTTPTransferSink)?
    var handle: CurlHandle?
    var timer: TransferTimer
    private var head: ResponseHeadParser
    private var response: HTTPResponse?
    /// The heads that asked to go elsewhere, in their order: no more than the bounds of all heads allow.
    private var redirects: [HTTPExchange.Hop] = []
    private var failure: WebImageError?
    /// Why the last address that was tried was refused; nil when it was not.
    var refusal: WebImageError?
    private var isRedirecting = false
    /// True once a request was sent.
    private var hasSent = false
    /// Whether any request of the transfer went over TLS.
    private var wasSecure = false
    private var wireByteCount: Int64 = 0
    /// Bytes of bodies as they came, with what frames their chunks; of bodies in chunks, and under a policy of all.
    var framedByteCount: Int64 = 0
    /// Set once that was too much.
    var framingProblem: WebImageError?

    init(_ request: HTTPTransferRequest, sink: any HTTPTransferSink, loop: CurlLoop) {
        self.request = request
        self.sink = sink
        self.loop = loop
        timer = TransferTimer(limits: TransferTimer.Limits(request), now: 0)
        head = ResponseHeadParser(
            maximumByteCount: request.maximumHeaderByteCount,
            maximumFieldCount: request.maximumHeaderCount
        )
    }

    func cancel() { loop.cancel(self) }

    /// The watchdog of the loop's connections.
    var watchdog: CurlWatchdog { loop.watchdog }

    // MARK: From libcurl

    /// False ends the transfer before the request is sent.
    ///
    /// - Parameters:
    ///   - address: the other end of the connection, in its usual spelling.
    ///   - port: its port.
    func willSendRequest(to address: String, port: Int) -> Bool {
        if let problem = connectionProblem(address: address, port: port) {
            failure = problem
            return false
        }
        didSendRequest()
        // What counts is where libcurl really goes: heads can be written so that others read another place out of them.
        let isSecure = currentAddress.map { DownloaderCore.isSecure($0) } ?? DownloaderCore.isSecure(request.url)
        defer { wasSecure = wasSecure || isSecure }
        guard wasSecure, !isSecure, !request.allowsInsecureRedirects else { return true }
        failure = WebImageError(.badRedirect, "the server redirected from https to http")
        return false
    }

    /// Starts waiting for the response. Before libcurl 7.80 only this is called, and a policy checks connections when they are opened.
    func didSendRequest() {
        isRedirecting = false
        hasSent = true
        framedByteCount = 0
        timer.connected(at: loop.now)
        loop.noteDeadline(timer.nextDeadline)
    }

    /// Where a redirect led; nil before the first.
    private var currentAddress: String? {
        guard let easy = handle?.easy, webimage_curl_get_long(easy, CURLINFO_REDIRECT_COUNT) > 0 else { return nil }
        return webimage_curl_get_string(easy, CURLINFO_EFFECTIVE_URL).map { String(cString: $0) }
    }

    /// False ends the transfer.
    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        do throws(WebImageError) {
            let isComplete = try head.consume(line)
            noteBytes()
            loop.watchdog.noteContent(byteCount: line.count)
            if isComplete, head.headers["Transfer-Encoding"] != nil { handle?.countFraming() }
            guard isComplete, response == nil, !isDetached else { return true }
            if request.followsRedirects, head.isRedirect {
                isRedirecting = true
                redirects.append(HTTPExchange.Hop(statusCode: head.statusCode, headers: head.headers))
                try checkRedirect()
            } else if head.statusCode >= 200, ![401, 407].contains(head.statusCode) {
                // libcurl may answer 401 and 407 itself; whether it does shows in the body or the end.
                return deliverHead()
            }
            return true
        } catch {
            failure = failure ?? error
            return false
        }
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        loop.watchdog.noteContent(byteCount: bytes.count)
        if response == nil, !isDetached, !deliverHead() { return false }
        guard let sink, !isDetached else { return true }
        failure = sink.didReceive(bytes)
        return failure == nil
    }

    func progress(wireByteCount: Int64, sentByteCount: Int64) -> Bool {
        if request.body != nil { timer.sent(total: sentByteCount, at: loop.now) }
        guard checkFraming(bodyByteCount: wireByteCount) else {
            failure = failure ?? framingProblem
            return false
        }
        guard wireByteCount != self.wireByteCount else { return true }
        self.wireByteCount = wireByteCount
        noteBytes()
        guard wireByteCount <= Int64(request.maximumByteCount) else {
            // The rest of a response that was refused ends for the reason it was refused for.
            guard failure == nil else { return false }
            failure = .limitExceeded(
                "maximumResponseByteCount",
                allowed: request.maximumByteCount,
                required: Int(wireByteCount)
            )
            return false
        }
        return true
    }

    private func noteBytes() {
        let before = timer.nextDeadline
        timer.received(total: wireByteCount + Int64(head.byteCount), at: loop.now)
        if timer.nextDeadline < before { loop.noteDeadline(timer.nextDeadline) }
    }

    private func checkRedirect() throws(WebImageError) {
        guard !request.allowsInsecureRedirects, let location = head.headers["Location"]?.lowercased(),
            location.hasPrefix("http:"),
            let current = handle.flatMap({ webimage_curl_get_string($0.easy, CURLINFO_EFFECTIVE_URL) }),
            String(cString: current).lowercased().hasPrefix("https:")
        else { return }
        throw WebImageError(.badRedirect, "the server redirected from https to http")
    }

    // MARK: To the sink

    /// Whether the sink has had its end while libcurl still reads a short rest to keep the connection.
    private(set) var isDetached = false

    private func deliverHead() -> Bool {
        var response = HTTPResponse(
            url: effectiveURL,
            statusCode: head.statusCode,
            httpVersion: head.httpVersion,
            headers: head.headers
        )
        // A redirect that libcurl has not followed is the answer.
        let followed = isRedirecting ? Array(redirects.dropLast()) : redirects
        if !followed.isEmpty {
            response.exchange = HTTPExchange(requestHeaders: [:], requestTime: 0, responseTime: 0, redirects: followed)
        }
        self.response = response
        guard let refusal = sink?.didReceive(response) else { return true }
        guard let rest = response.contentLength, rest <= 16 << 10 else {
            failure = refusal
            return false
        }
        isDetached = true
        failure = refusal
        timer = TransferTimer(limits: .init(idle: 2_000_000_000, total: 2_000_000_000), now: loop.now)
        timer.connected(at: loop.now)
        loop.noteDeadline(timer.nextDeadline)
        loop.finishSoon(self)
        return true
    }

    private var effectiveURL: URL {
        currentAddress.flatMap { URL(string: $0) } ?? request.url
    }

    /// Tells the sink the end, once.
    ///
    /// - Parameter cutOff: local ports of connections that the watchdog has ended.
    func finish(_ result: CURLcode, cutOff: Set<Int> = []) {
        guard sink != nil else { return }
        if failure == nil, result != CURLE_OK, !cutOff.isEmpty, let easy = handle?.easy,
            cutOff.contains(webimage_curl_get_long(easy, CURLINFO_LOCAL_PORT))
        {
            failure = CurlWatchdog.error
        }
        if failure == nil, result == CURLE_COULDNT_CONNECT { failure = refusal }
        if failure == nil, hasSent, response == nil, Self.isTooLong(result) {
            // No limit of a head would be reached by memory that there is not.
            let longest = 100 << 10
            let allowed = min(request.maximumHeaderByteCount, longest)
            failure = .limitExceeded("maximumResponseHeaderByteCount", allowed: allowed, required: longest + 1)
        }
        if failure == nil, result != CURLE_OK {
            failure = CurlErrorMapping.error(
                result,
                message: handle?.errorMessage ?? "",
                isRedirecting: isRedirecting
            )
        }
        if failure == nil, response == nil { _ = deliverHead() }
        if failure == nil { failure = lengthProblem }
        finish(with: failure)
    }

    /// Tells the sink the end, once: with an error of the loop's, or the one found earlier.
    func finish(with error: WebImageError?) {
        guard let sink else { return }
        self.sink = nil
        sink.didFinish(failure ?? error, metrics: metrics)
    }

    /// True if libcurl found a header line too long. Before version 8.6 it reports that as a lack of memory.
    private static func isTooLong(_ result: CURLcode) -> Bool {
        result == CURLE_OUT_OF_MEMORY || result.rawValue == 100
    }

    /// Forgets the sink without a word.
    func detach() { sink = nil }

    private var lengthProblem: WebImageError? {
        guard request.method != "HEAD", let response, let length = response.contentLength,
            response.headers["Transfer-Encoding"] == nil,
            let easy = handle?.easy
        else { return nil }
        let received = webimage_curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T)
        guard received != length else { return nil }
        return WebImageError(
            .networkConnectionLost,
            "the body has \(received) bytes and not the announced \(length)"
        )
    }

    private var metrics: DownloadMetrics {
        var metrics = DownloadMetrics()
        metrics.heads.value = DownloadMetrics.Heads(byteCount: head.byteCount, fieldCount: head.fieldCount)
        guard let easy = handle?.easy else { return metrics }
        func seconds(_ info: CURLINFO) -> Double { Double(webimage_curl_get_offset(easy, info)) / 1e6 }
        metrics.isReusedConnection = response != nil && webimage_curl_get_long(easy, CURLINFO_NUM_CONNECTS) == 0
        // Of a connection that it had, libcurl tells here when it was found.
        metrics.domainLookup = metrics.isReusedConnection ? 0 : seconds(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = seconds(CURLINFO_CONNECT_TIME_T)
        metrics.secureConnect = seconds(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = seconds(CURLINFO_TOTAL_TIME_T)
        metrics.receivedByteCount = Int64(webimage_curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T))
        metrics.httpVersion = response?.httpVersion ?? head.httpVersion
        metrics.redirectCount = webimage_curl_get_long(easy, CURLINFO_REDIRECT_COUNT)
        return metrics
    }
}

// MARK: - The functions libcurl calls

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

func curlDidReceiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(context) else { return 0 }
    let length = size * count
    return transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: length)) ? length : (length == 0 ? 1 : 0)
}

func curlDidReceiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(context) else { return 0 }
    let length = size * count
    return transfer.receiveHeaderLine(UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
}

func curlDidProgress(
    _ context: UnsafeMutableRawPointer?,
    _: curl_off_t,
    _ received: curl_off_t,
    _: curl_off_t,
    _ sent: curl_off_t
) -> Int32 {
    transfer(context)?.progress(wireByteCount: Int64(received), sentByteCount: Int64(sent)) == false ? 1 : 0
}

func curlWillSendRequest(
    _ context: UnsafeMutableRawPointer?,
    _ address: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?,
    _ port: Int32,
    _: Int32
) -> Int32 {
    guard let transfer = transfer(context) else { return webimage_curl_abort_request }
    // Written out only for those who look at it.
    let text = transfer.request.sourcePolicy == nil ? "" : address.map { String(cString: $0) } ?? ""
    return transfer.willSendRequest(to: text, port: Int(port))
        ? webimage_curl_send_request : webimage_curl_abort_request
}
