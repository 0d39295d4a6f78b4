import CCurl
import Glibc

/// Checks of the addresses that a transfer connects to.
extension CurlTransfer {
    private var policy: SourcePolicy? { request.sourcePolicy.flatMap { $0.isTrusted ? nil : $0 } }

    /// Returns whether a socket may be opened to an address. Called for each address that libcurl tries; if one is refused, libcurl
    /// goes on to the host's next address.
    func mayOpenSocket(to address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let policy else { return true }
        var bytes = [UInt8](repeating: 0, count: 16)
        var port: Int32 = 0
        let count = webimage_curl_address(address, &bytes, &port)
        guard let ip = IPAddress(bytes: bytes.prefix(max(Int(count), 0))) else {
            refusal = WebImageError(.sourceRefused, "the host has no IP address")
            return false
        }
        refusal = problem(of: policy, port: Int(port), at: "\(ip)")
        return refusal == nil
    }

    /// Returns the policy's error for the connection, new or reused, over which the request is about to be sent.
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
    /// Returns the error for too much chunk framing around a body of `bodyByteCount` bytes, if any.
    ///
    /// A chunk of one byte takes five more. Chunk extensions can have any length, and libcurl passes them to no callback that
    /// counts them.
    private func framingProblem(bodyByteCount: Int64) -> WebImageError? {
        let framing = framedByteCount - bodyByteCount
        // Trailers, which have a separate limit, are included.
        let allowed = 8 * bodyByteCount + Int64(min(request.maximumHeaderByteCount, 1 << 40)) + (64 << 10)
        guard framing > allowed else { return nil }
        return .limitExceeded("bytes that frame a body", allowed: Int(allowed), required: Int(framing))
    }

    /// Counts bytes that libcurl is about to parse.
    ///
    /// libcurl reads up to a hundred times, 25 MiB, before it calls the progress callback, and ignores the result of the debug
    /// callback. A pause makes it call the progress callback. The content of these bytes is known only at the next call.
    func willTakeApart(byteCount: Int) {
        if framingProblem == nil, let easy = handle?.easy {
            checkFraming(bodyByteCount: receivedByteCount)
            if framingProblem != nil { curl_easy_pause(easy, CURLPAUSE_RECV) }
        }
        framedByteCount += Int64(byteCount)
    }

    /// Checks that the framing around a body of `bodyByteCount` bytes is within the limit.
    @discardableResult
    func checkFraming(bodyByteCount: Int64) -> Bool {
        // Few bodies have chunks that are counted.
        guard framedByteCount > 0 else { return true }
        framingProblem = framingProblem ?? framingProblem(bodyByteCount: bodyByteCount)
        return framingProblem == nil
    }
}

// MARK: - Callbacks of libcurl

func curlDidLog(
    _: UnsafeMutableRawPointer?,
    _ type: curl_infotype,
    _: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    // Texts can arrive at any time, also when the transfer no longer exists.
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
