/// Decides how redirects are handled.
///
/// Request coalescing compares the object: loads with different handlers do not share a download, so make one and keep it.
public final class DownloadRedirectHandler: Sendable {
    /// The action for a redirect.
    public enum Decision: Sendable {
        /// Send this request.
        case follow(DownloadRequest)
        /// Use the redirect response as the final one; its status is then checked like any other.
        case stop
        /// End the download with this error.
        case fail(WebImageError)
    }

    private let body: @Sendable (HTTPResponse, DownloadRequest) -> Decision

    /// Creates a handler from a closure.
    ///
    /// - Parameter body: called on the network thread for each redirect that the limits allow, with the response and the request
    ///   that would follow; must be quick.
    public init(_ body: @escaping @Sendable (_ response: HTTPResponse, _ next: DownloadRequest) -> Decision) {
        self.body = body
    }

    /// Returns the action after `response`, when `next` would follow.
    public func decision(for response: HTTPResponse, next: DownloadRequest) -> Decision { body(response, next) }
}
