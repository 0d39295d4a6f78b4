/// How long the parts of a download took, in seconds from its start, and how much was moved.
///
/// Of a download that was tried several times: of the last attempt, except where said otherwise.
public struct DownloadMetrics: Sendable, Hashable {
    /// Until the name was resolved; 0 on a reused connection.
    public var domainLookup: Double = 0
    /// Until the connection was made.
    public var connect: Double = 0
    /// Until the TLS handshake was done; 0 without TLS.
    public var secureConnect: Double = 0
    /// Until the first byte of the response.
    public var firstByte: Double = 0
    /// Until the last byte, redirects included.
    public var total: Double = 0
    /// Bytes of the body as they came over the wire, before content decoding; with those of bodies that were not taken: of
    /// redirects, and of a rest that was not one of the same picture.
    public var receivedByteCount: Int64 = 0
    /// Bytes of the body that an earlier attempt had received, here or in another process, and that were not sent again but for
    /// the few that tell whether they still belong to the picture; 0 when the body came from its beginning.
    public var resumedByteCount: Int64 = 0
    /// "1.0", "1.1", "2" or "3".
    public var httpVersion: String = ""
    /// Whether an existing connection served the request.
    public var isReusedConnection: Bool = false
    /// Redirects followed.
    public var redirectCount: Int = 0
    /// Attempts, the last one included.
    public var attemptCount: Int = 1
    /// Seconds between attempts, all together, in which nothing was sent because the retry policy said to wait.
    public var waitedForRetry: Double = 0
    /// Whether a second request was sent because the first was slow (``WebImageDownloaderConfig/hedgeDelay``), whichever of the two was
    /// answered first.
    public var wasHedged: Bool = false

    /// All response heads of the request, interim ones and trailers among them: what bounds of heads are held against.
    package struct Heads: Sendable {
        package var byteCount = 0
        package var fieldCount = 0

        package init(byteCount: Int = 0, fieldCount: Int = 0) {
            (self.byteCount, self.fieldCount) = (byteCount, fieldCount)
        }
    }

    package var heads = Uncompared(value: Heads())

    /// All zero, and one attempt.
    public init() {}
}
