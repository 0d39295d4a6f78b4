/// Decides what becomes of a redirect.
///
/// Loads with different handlers do not share a download: it is the object that counts, so make one and keep it.
public final class DownloadRedirectHandler: Sendable {
    /// What is to be done.
    public enum Decision: Sendable {
        /// Send this request.
        case follow(DownloadRequest)
        /// Take the response for the answer; its status is then looked at as any other.
        case stop
        /// End the download with this error.
        case fail(WebImageError)
    }

    private let body: @Sendable (HTTPResponse, DownloadRequest) -> Decision

    /// A handler of a closure.
    ///
    /// - Parameter body: asked on the network thread for each redirect that the limits allow, with the response and the
    ///   request that would follow; must be quick.
    public init(_ body: @escaping @Sendable (_ response: HTTPResponse, _ next: DownloadRequest) -> Decision) {
        self.body = body
    }

    /// What is to be done after `response`, where `next` would follow.
    public func decision(for response: HTTPResponse, next: DownloadRequest) -> Decision { body(response, next) }
}
