/// A read of an entry on disk for a load, with what a cache must know that asks other machines.
public struct ImageCacheQuery: Sendable, Hashable {
    /// The key.
    public var key: String
    /// The priority of the load.
    public var priority: LoadPriority
    /// The group of loads on all machines that may share the entry; see ``ImageStoreRequest/sharingScope``. Nil if nobody outside of
    /// this process and its disk may be asked.
    public var sharingScope: String?
    /// A Boolean value that indicates whether the load makes the entry if there is none. A cache may then let one machine make it and
    /// the others wait. The load ends with a store of the key, with ``ImageCaching/loadEndedWithoutStore(forKey:)``, or with
    /// ``ImageCaching/loadWasCancelled(forKey:)``.
    public var isFollowedByLoad: Bool

    /// Creates a query that asks nobody else.
    public init(
        key: String,
        priority: LoadPriority = .normal,
        sharingScope: String? = nil,
        isFollowedByLoad: Bool = false
    ) {
        self.key = key
        self.priority = priority
        self.sharingScope = sharingScope
        self.isFollowedByLoad = isFollowedByLoad
    }
}
