/// The timings of a download, in seconds from its start, and the number of bytes transferred.
///
/// After retries: those of the last attempt, unless documented otherwise.
public struct DownloadMetrics: Sendable, Hashable {
    /// The time until the host name was resolved; 0 on a reused connection.
    public var domainLookup: Double = 0
    /// The time until the connection was made.
    public var connect: Double = 0
    /// The time until the TLS handshake was done; 0 without TLS.
    public var secureConnect: Double = 0
    /// The time until the first byte of the response.
    public var firstByte: Double = 0
    /// The time until the last byte, including redirects.
    public var total: Double = 0
    /// The number of bytes of the body on the wire, before content decoding; including discarded bodies: of redirects, and of a
    /// partial response that did not belong to the same image.
    public var receivedByteCount: Int64 = 0
    /// The number of bytes of the body that an earlier attempt had received, here or in another process, and that were not sent
    /// again, except for the few that verify that they still belong to the image; 0 if the body was sent from its beginning.
    package var resumedByteCount: Int64 = 0
    /// "1.0", "1.1", "2" or "3".
    public var httpVersion: String = ""
    /// Indicates whether the request used an existing connection.
    public var isReusedConnection: Bool = false
    /// The number of redirects followed.
    package var redirectCount: Int = 0
    /// The number of attempts, including the last one.
    package var attemptCount: Int = 1
    /// The total time in seconds between attempts in which nothing was sent because the retry policy required a delay.
    package var waitedForRetry: Double = 0
    /// Indicates whether a second request was sent because the first was slow (``WebImageDownloaderConfig/hedgeDelay``), whichever
    /// of the two was answered first.
    package var wasHedged: Bool = false

    /// The size of all response heads of the request, including interim responses and trailers; checked against the limits for
    /// heads.
    package struct Heads: Sendable {
        package var byteCount = 0
        package var fieldCount = 0

        package init(byteCount: Int = 0, fieldCount: Int = 0) {
            (self.byteCount, self.fieldCount) = (byteCount, fieldCount)
        }
    }

    package var heads = IgnoredInEquality(value: Heads())

    /// Creates metrics with all values zero, and one attempt.
    public init() {}
}
