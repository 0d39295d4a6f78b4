import Glibc
package import WebImage

/// The syntax of a server's URLs: makes a request from a path. Grammars are values; they read nothing and keep nothing.
///
/// A path is checked in this order: its parts, the signature, the options, the expiry, and the source. The work is proportional to the
/// length of the path.
package protocol URLGrammar: Sendable {
    /// Returns the request that a path stands for.
    ///
    /// - Parameters:
    ///   - path: the target of the HTTP request as it was sent: percent-encoded, with the leading slash; a query is ignored.
    ///   - defaults: the options before those of the path are applied, for example from client hints.
    ///   - now: the time in seconds since 1970, to compare the expiry with.
    /// - Throws: ``ServerError`` with status 400 for an invalid path, 403 for a wrong signature or something that is not allowed, 404 for
    ///   an expired one, 422 for an option that is not implemented.
    func request(
        forPath path: String,
        defaults: VariantOptions,
        now: Int64
    ) throws(ServerError) -> VariantRequest

    /// True if strangers can request only what the operator has signed or named.
    var isRestricted: Bool { get }

    /// Returns the path of the same request with a format, for a path that names none; nil if the grammar cannot write it.
    ///
    /// - Parameters:
    ///   - path: the target of the HTTP request as it was sent. It has been accepted, so its signature is valid, and the result is signed.
    ///   - format: the format of the result.
    func path(_ path: String, naming format: ImageFormat) -> String?
}

extension URLGrammar {
    package var isRestricted: Bool { false }

    package func path(_ path: String, naming format: ImageFormat) -> String? { nil }

    /// Returns the request that a path stands for, without other defaults, now.
    ///
    /// - Parameter path: the target of the HTTP request as it was sent, with the leading slash.
    /// - Throws: ``ServerError``.
    package func request(forPath path: String) throws(ServerError) -> VariantRequest {
        try request(forPath: path, defaults: VariantOptions(), now: Int64(time(nil)))
    }
}
