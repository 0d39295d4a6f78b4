import CCurl

/// Maps libcurl's result codes to errors of this library.
enum CurlErrorMapping {
    /// The error for `result`.
    ///
    /// - Parameter message: libcurl's message, kept as the cause; if it is empty, libcurl's general text for the code.
    static func error(_ result: CURLcode, message: String) -> WebImageError {
        let words = message.isEmpty ? String(cString: curl_easy_strerror(result)) : message
        let (code, text) = meaning(of: result)
        return WebImageError(
            code,
            text,
            underlyingError: TransportFailure(code: Int(result.rawValue), message: words)
        )
    }

    private static func meaning(of result: CURLcode) -> (WebImageError.Code, String) {
        switch result {
        case CURLE_OPERATION_TIMEDOUT:
            (.timedOut, "the connection timed out")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            (.cannotFindHost, "the host name could not be resolved")
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            (.cannotConnectToHost, "could not connect to the host")
        case CURLE_PARTIAL_FILE:
            (.networkConnectionLost, "the body ended before its announced length")
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (.networkConnectionLost, "the connection was lost")
        case CURLE_URL_MALFORMAT:
            (.invalidURL, "the URL is malformed")
        case CURLE_OUT_OF_MEMORY:
            (.outOfMemory, "not enough memory for the transfer")
        case CURLE_BAD_CONTENT_ENCODING:
            (.transportFailed, "the body's content encoding is damaged or unknown")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CIPHER,
            CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT, CURLE_SSL_CERTPROBLEM,
            _ where certificate.contains(result.rawValue):
            (.secureConnectionFailed, "could not establish a secure connection")
        default:
            (.transportFailed, "the transfer failed")
        }
    }

    /// Results that mean that the server's certificate is not acceptable. A retry does not change that.
    private static let certificate = Set(
        [
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS,
        ].map(\.rawValue)
    )

    /// Returns whether `error` means that the server's certificate was refused.
    static func isCertificateFailure(_ error: WebImageError) -> Bool {
        guard error.code == .secureConnectionFailed, let cause = error.underlyingError as? TransportFailure else {
            return false
        }
        return certificate.contains(UInt32(clamping: cause.code))
    }

    /// Returns whether `error` means that a TLS handshake broke off, so that a retry may succeed; false if the certificate was
    /// refused, or if TLS could not be set up on this side.
    static func isBrokenHandshake(_ error: WebImageError) -> Bool {
        guard error.code == .secureConnectionFailed else { return false }
        guard let cause = error.underlyingError as? TransportFailure else { return true }
        return cause.code == Int(CURLE_SSL_CONNECT_ERROR.rawValue)
    }
}
