/// The state of a store, for its operator.
public struct RemoteStoreReport: Sendable, Hashable {
    /// The sums of all machines since the store was emptied or restarted. Each process adds its counts every ten seconds (S3: every minute),
    /// and when its cache is flushed; those of a process that was killed are missing. All zero if no process has counted, or none may.
    public internal(set) var statistics = RemoteStatistics()
    /// The number of values; nil if it is not known, as in a cluster.
    public internal(set) var valueCount: Int?
    /// The bytes of these values, without the server's own overhead.
    public internal(set) var valueByteCount: Int?
    /// True if number and bytes of the values are estimates from a sample of about a thousand.
    public internal(set) var isEstimate = false
    /// The memory that the server uses, in bytes, for everything in it; in a cluster, that of one node. Nil if it does not say.
    public internal(set) var serverMemory: Int?
    /// The limit of that memory; nil for none.
    public internal(set) var serverMemoryLimit: Int?
    /// The number of keys that the server has evicted since its start, of all its users.
    public internal(set) var serverEvictionCount: Int?
    /// The time of the first reply in seconds, with the connection.
    public internal(set) var replyTime = 0.0
}

/// The circuit breakers of a store's nodes, as this process sees them.
struct RemoteCircuits: Sendable, Hashable {
    /// The number of nodes that are not asked now.
    var openCount = 0
    var openingCount = 0
}

extension RemoteImageStore {
    /// Asks the store for its state. Takes a few round trips, and looks at about a thousand values; in S3, a list of so many.
    ///
    /// - Throws: ``WebImageError/Code/secureConnectionFailed`` if the certificate of the server was refused, and
    ///   ``WebImageError/Code/hostUnavailable`` if it does not reply for another reason, which the message names.
    public func report() async throws(WebImageError) -> RemoteStoreReport { try await store.report() }
}
