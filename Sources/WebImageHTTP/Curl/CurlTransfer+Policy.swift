import CCurl
import Glibc

/// Where a transfer may go, and what may come around its body.
extension CurlTransfer {
    private var policy: SourcePolicy? { request.sourcePolicy.flatMap { $0.isTrusted ? nil : $0 } }

    /// Whether a socket may be opened to an address: asked for each that libcurl tries. Where one is refused libcurl goes on to the
    /// host's next.
    func mayOpenSocket(to address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let policy else { return true }
        var bytes = [UInt8](repeating: 0, count: 16)
        var port: Int32 = 0
        let count = webimage_curl_address(address, &bytes, &port)
        guard let ip = IPAddress(bytes: bytes.prefix(max(Int(count), 0))) else {
            refusal = WebImageError(.sourceRefused, "the host is not at an address of the internet")
            return false
        }
        refusal = problem(of: policy, port: Int(port), at: "\(ip)")
        return refusal == nil
    }

    /// What is wrong with the connection that the request is about to be sent over, new or kept.
    func connectionProblem(address: String, port: Int) -> WebImageError? {
        policy.flatMap { problem(of: $0, port: port, at: address) }
    }

    private func problem(of policy: SourcePolicy, port: Int, at address: String) -> WebImageError? {
        guard let target = CurlAddress(HostName.address(of: request.url)) else {
            return WebImageError(.sourceRefused, SourceRefusal.malformed.message())
        }
        return policy.refusal(ofHost: target.host, port: port, at: address)
    }
}

extension CurlTransfer {
    /// What is wrong with what has come beside a body of so many bytes.
    ///
    /// Chunks of a byte each take five more. Extensions of chunks could take any number, and are handed to nobody who counts.
    private func framingProblem(bodyByteCount: Int64) -> WebImageError? {
        let framing = framedByteCount - bodyByteCount
        // Trailers, which have a bound of their own, are among it.
        let allowed = 8 * bodyByteCount + Int64(min(request.maximumHeaderByteCount, 1 << 40)) + (64 << 10)
        guard framing > allowed else { return nil }
        return .limitExceeded("bytes that frame a body", allowed: Int(allowed), required: Int(framing))
    }

    /// Notes bytes that libcurl is about to take apart.
    ///
    /// libcurl reads up to a hundred times before it asks whether to go on, 25 MiB, and here it takes no answer: a pause is what makes it
    /// ask. What it will find in these bytes is known the next time.
    func willTakeApart(byteCount: Int) {
        if framingProblem == nil, let easy = handle?.easy {
            checkFraming(bodyByteCount: receivedByteCount)
            if framingProblem != nil { curl_easy_pause(easy, CURLPAUSE_RECV) }
        }
        framedByteCount += Int64(byteCount)
    }

    /// Whether no more has come around a body of so many bytes than may.
    @discardableResult
    func checkFraming(bodyByteCount: Int64) -> Bool {
        // Hardly any body is in chunks that are counted.
        guard framedByteCount > 0 else { return true }
        framingProblem = framingProblem ?? framingProblem(bodyByteCount: bodyByteCount)
        return framingProblem == nil
    }
}

// MARK: - What libcurl calls

func curlDidLog(
    _: UnsafeMutableRawPointer?,
    _ type: curl_infotype,
    _: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    // Texts come at any time, when there may be no transfer any more.
    guard let context else { return 0 }
    switch type {
    case CURLINFO_DATA_IN:
        Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().willTakeApart(byteCount: size)
    case CURLINFO_HEADER_OUT where !webimage_curl_calls_before_request():
        Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().didSendRequest()
    default: break
    }
    return 0
}

func curlWillOpenSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address, purpose == CURLSOCKTYPE_IPCXN else { return -1 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    guard transfer.mayOpenSocket(to: address) else { return -1 }
    let socket = webimage_curl_open_socket(address)
    if socket >= 0 { transfer.watchdog.socketOpened(socket) }
    return socket
}

func curlWillCloseSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    guard let context else { return close(socket) }
    return Unmanaged<CurlWatchdog>.fromOpaque(context).takeUnretainedValue().close(socket)
}
