import CCurl

extension CurlErrorMapping {
    /// Whether `error` means that a TLS handshake broke off, which the next one need not do; not that the certificate was
    /// refused, or that TLS could not be set up on this side.
    static func isBrokenHandshake(_ error: WebImageError) -> Bool {
        guard error.code == .secureConnectionFailed else { return false }
        guard let cause = error.underlyingError as? TransportFailure else { return true }
        return cause.code == Int(CURLE_SSL_CONNECT_ERROR.rawValue)
    }
}
