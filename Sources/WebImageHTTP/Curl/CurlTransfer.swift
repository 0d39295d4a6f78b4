import CCurl
import FoundationEssentials

/// One transfer on the event loop: forwards libcurl's callbacks to the sink.
final class CurlTransfer: HTTPTransfer, @unchecked Sendable {
    // Sendable because, after `init`, everything but `cancel` is called only on the loop's thread, and `cancel` reads only
    // constants.

    let request: HTTPTransferRequest
    private let loop: CurlLoop
    private(set) var sink: (any HTTPTransferSink)?
    var handle: CurlHandle?
    var timer: TransferTimer
    private var head: ResponseHeadParser
    private var response: HTTPResponse?
    private var failure: WebImageError?
    /// The error for the last address that was tried; nil if it was not refused.
    var refusal: WebImageError?
    /// True once a request was sent.
    private var hasSent = false
    private var wireByteCount: Int64 = 0
    /// The time at which received bytes were last noted.
    private var notedAt: UInt64?
    /// The body bytes as received, including chunk framing. Counted for chunked bodies, and under a policy for all bodies.
    var framedByteCount: Int64 = 0
    /// The error once the framing exceeds its limit.
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

    /// Called before the request is sent; false ends the transfer.
    ///
    /// - Parameters:
    ///   - address: the peer's IP address, as text.
    ///   - port: the peer's port.
    func willSendRequest(to address: String, port: Int) -> Bool {
        if let problem = connectionProblem(address: address, port: port) {
            failure = problem
            return false
        }
        didSendRequest()
        return true
    }

    /// Starts waiting for the response. Before libcurl 7.80, only this method is called, and a policy checks connections when they
    /// are opened.
    func didSendRequest() {
        hasSent = true
        framedByteCount = 0
        timer.connected(at: loop.now)
        loop.noteDeadline(timer.nextDeadline)
    }

    /// Takes a header line; false ends the transfer.
    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        do throws(WebImageError) {
            let isComplete = try head.consume(line)
            // Further lines of a head that arrived in the same iteration change only the byte count.
            if isComplete || loop.now != notedAt { noteBytes() }
            loop.watchdog.noteContent(byteCount: line.count)
            if isComplete { headTime = loop.now }
            if isComplete, head.headers["Transfer-Encoding"] != nil { handle?.countFraming() }
            // libcurl may answer 401 and 407 itself; only the body or the end shows whether it does.
            guard isComplete, response == nil, !isDetached, head.statusCode >= 200,
                ![401, 407].contains(head.statusCode)
            else { return true }
            return deliverHead()
        } catch {
            failure = failure ?? error
            return false
        }
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        loop.watchdog.noteContent(byteCount: bytes.count)
        if response == nil, !isDetached, !deliverHead() { return false }
        guard let sink, !isDetached else {
            unpackedByteCount += bytes.count
            return receivedByteCount <= Self.longestRest && unpackedByteCount <= Self.longestUnread
        }
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
        // While there is no response, libcurl discards the body of a 401 or 407 before it sends the request again with credentials.
        let isUnread = response == nil && wireByteCount > 0
        let limit = isUnread ? min(request.maximumByteCount, Self.longestUnread) : request.maximumByteCount
        let isLate = isUnread && loop.now >= headTime.adding(clamped: timer.limits.idle)
        guard wireByteCount <= Int64(limit), !isLate else {
            if isUnread { _ = deliverHead() }
            // If the rest of a refused response exceeds the limit, the error stays the reason for the refusal.
            guard failure == nil else { return false }
            failure = .limitExceeded("maximumResponseByteCount", allowed: limit, required: Int(wireByteCount))
            return false
        }
        return true
    }

    private func noteBytes() {
        let before = timer.nextDeadline
        notedAt = loop.now
        timer.received(total: wireByteCount + Int64(head.byteCount), at: loop.now)
        if timer.nextDeadline < before { loop.noteDeadline(timer.nextDeadline) }
    }

    // MARK: To the sink

    /// True if the sink has been notified of the end, but libcurl still reads the short rest of the body to keep the connection.
    private(set) var isDetached = false
    /// The maximum byte count of such a rest, whether or not its length was announced.
    private static let longestRest: Int64 = 16 << 10
    /// The maximum decompressed size of such a rest, and the maximum body size of a 401 or 407 that libcurl answers with
    /// credentials.
    private static let longestUnread = 256 << 10
    private var unpackedByteCount = 0
    /// The time at which the latest head was complete.
    private var headTime = UInt64.max

    private func deliverHead() -> Bool {
        let response = HTTPResponse(
            url: request.url,
            statusCode: head.statusCode,
            httpVersion: head.httpVersion,
            headers: head.headers
        )
        self.response = response
        guard let refusal = sink?.didReceive(response) else { return true }
        guard response.contentLength ?? 0 <= Self.longestRest else {
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

    /// Notifies the sink of the end, once.
    ///
    /// - Parameter cutOff: local ports of connections that the watchdog has shut down.
    func finish(_ result: CURLcode, cutOff: Set<Int> = []) {
        guard sink != nil else { return }
        if failure == nil, result != CURLE_OK, !cutOff.isEmpty, let easy = handle?.easy,
            cutOff.contains(webimage_curl_get_long(easy, CURLINFO_LOCAL_PORT))
        {
            failure = CurlWatchdog.error
        }
        if failure == nil, result == CURLE_COULDNT_CONNECT { failure = refusal }
        if failure == nil, hasSent, response == nil, Self.isTooLong(result) {
            // libcurl accepts header lines of at most 100 KiB. A real lack of memory cannot be distinguished.
            let longest = 100 << 10
            let allowed = min(request.maximumHeaderByteCount, longest)
            failure = .limitExceeded("maximumResponseHeaderByteCount", allowed: allowed, required: longest + 1)
        }
        // The server asked for credentials again and again.
        if failure == nil, response == nil, result == CURLE_TOO_MANY_REDIRECTS { _ = deliverHead() }
        if failure == nil, result != CURLE_OK {
            failure = CurlErrorMapping.error(result, message: handle?.errorMessage ?? "")
        }
        if failure == nil, response == nil { _ = deliverHead() }
        if failure == nil { failure = lengthProblem }
        finish(with: failure)
    }

    /// Notifies the sink of the end, once: with the failure found earlier, or else with `error`, nil for success.
    func finish(with error: WebImageError?) {
        guard let sink else { return }
        self.sink = nil
        sink.didFinish(failure ?? error, metrics: metrics)
    }

    /// Returns whether libcurl found a header line too long. Before version 8.6, it reports that as a lack of memory.
    private static func isTooLong(_ result: CURLcode) -> Bool {
        result == CURLE_OUT_OF_MEMORY || result.rawValue == 100
    }

    /// Drops the sink without notifying it.
    func detach() { sink = nil }

    private var lengthProblem: WebImageError? {
        guard request.method != "HEAD", let response, let length = response.contentLength, handle != nil,
            receivedByteCount != length, response.headers["Transfer-Encoding"] == nil
        else { return nil }
        let words = "the body has \(receivedByteCount) bytes instead of the announced \(length)"
        return WebImageError(.networkConnectionLost, words)
    }

    /// The number of body bytes received over the wire, as counted by libcurl.
    var receivedByteCount: Int64 {
        handle.map { Int64(webimage_curl_get_offset($0.easy, CURLINFO_SIZE_DOWNLOAD_T)) } ?? 0
    }

    private var metrics: DownloadMetrics {
        var metrics = DownloadMetrics()
        metrics.heads.value = DownloadMetrics.Heads(byteCount: head.byteCount, fieldCount: head.fieldCount)
        guard let easy = handle?.easy else { return metrics }
        func seconds(_ info: CURLINFO) -> Double { Double(webimage_curl_get_offset(easy, info)) / 1e6 }
        metrics.isReusedConnection = response != nil && webimage_curl_get_long(easy, CURLINFO_NUM_CONNECTS) == 0
        // For a reused connection, libcurl reports here the time at which the connection was found.
        metrics.domainLookup = metrics.isReusedConnection ? 0 : seconds(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = seconds(CURLINFO_CONNECT_TIME_T)
        metrics.secureConnect = seconds(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = seconds(CURLINFO_TOTAL_TIME_T)
        metrics.receivedByteCount = receivedByteCount
        metrics.httpVersion = response?.httpVersion ?? head.httpVersion
        return metrics
    }
}

// MARK: - The callbacks passed to libcurl

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
    // Converted to a string only for requests with a source policy.
    let text = transfer.request.sourcePolicy == nil ? "" : address.map { String(cString: $0) } ?? ""
    return transfer.willSendRequest(to: text, port: Int(port))
        ? webimage_curl_send_request : webimage_curl_abort_request
}
