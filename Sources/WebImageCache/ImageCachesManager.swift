/// A group of caches that work as one; the one added last comes first. For example, a small cache of today's images in front of a
/// big shared one.
///
/// Every kind of operation has a separate policy that determines which caches participate and in which order. With any policy, and
/// also without caches or with an empty key, every request completes exactly once. Thread-safe. A call uses the caches and the
/// policy at the time of the call, so caches that are added or removed in the meantime do not affect it.
///
/// Memory lookups are cheap, so the memory of all caches of the query policy is searched before any disk is read: an image in the
/// memory of a lower cache is found before an entry on the disk of a higher one.
///
/// Caches managers can be nested, but must not contain each other.
public final class ImageCachesManager: ImageCaching {
    /// The caches that participate in an operation, and their order.
    public enum OperationPolicy: Int, Sendable, Hashable, CaseIterable {
        /// One after the other, the highest first. A lookup ends with the first cache that has the key.
        case serial = 0
        /// All at once. For a lookup, the first non-empty answer counts.
        case concurrent = 1
        /// Only the cache with the highest priority.
        case highestOnly = 2
        /// Only the cache with the lowest priority.
        case lowestOnly = 3
    }

    struct State {
        var caches: [any ImageCaching]
        var query = OperationPolicy.serial
        var store = OperationPolicy.highestOnly
        var remove = OperationPolicy.concurrent
        var contains = OperationPolicy.serial
        var clear = OperationPolicy.concurrent
    }

    private let state: Lock<State>

    /// Creates a manager of the given caches; the last one has the highest priority.
    public init(caches: [any ImageCaching]) { state = Lock(State(caches: caches)) }

    /// The caches; the last one has the highest priority. The manager itself is removed from the list.
    public var caches: [any ImageCaching] {
        get { state.withLock { $0.caches } }
        set {
            let others = newValue.filter { $0 !== self }
            change { $0 = others }
        }
    }

    /// Adds a cache with the highest priority. The manager itself is not added.
    public func add(_ cache: any ImageCaching) {
        guard cache !== self else { return }
        change { $0.append(cache) }
    }

    /// Removes a cache. Its running requests continue.
    public func remove(_ cache: any ImageCaching) { change { $0.removeAll { $0 === cache } } }

    private func change(_ body: (inout [any ImageCaching]) -> Void) {
        let former = state.withLock { state in
            let former = state.caches
            body(&state.caches)
            return former
        }
        // A cache may be released with its last owner, which must not happen under the lock.
        withExtendedLifetime(former) {}
    }

    /// The policy for queries of images and entries; ``OperationPolicy/serial`` by default.
    public var queryPolicy: OperationPolicy {
        get { state.withLock { $0.query } }
        set { state.withLock { $0.query = newValue } }
    }

    /// The policy for stores; ``OperationPolicy/highestOnly`` by default.
    public var storePolicy: OperationPolicy {
        get { state.withLock { $0.store } }
        set { state.withLock { $0.store = newValue } }
    }

    /// The policy for removals of one entry; ``OperationPolicy/concurrent`` by default.
    public var removePolicy: OperationPolicy {
        get { state.withLock { $0.remove } }
        set { state.withLock { $0.remove = newValue } }
    }

    /// The policy for checks whether there is an entry; ``OperationPolicy/serial`` by default.
    public var containsPolicy: OperationPolicy {
        get { state.withLock { $0.contains } }
        set { state.withLock { $0.contains = newValue } }
    }

    /// The policy for removals of all entries; ``OperationPolicy/concurrent`` by default.
    public var clearPolicy: OperationPolicy {
        get { state.withLock { $0.clear } }
        set { state.withLock { $0.clear = newValue } }
    }

    /// The caches that participate in an operation, in order of priority, and whether they run concurrently.
    struct Selection {
        let caches: ArraySlice<any ImageCaching>
        let isConcurrent: Bool
    }

    /// Selects the participating caches.
    ///
    /// - Parameter key: an empty key selects none; nil means all keys.
    func select(_ key: String? = nil, _ policy: (State) -> OperationPolicy) -> Selection {
        if key == "" { return Selection(caches: [], isConcurrent: false) }
        let (caches, policy) = state.withLock { ($0.caches, policy($0)) }
        switch policy {
        case .serial: return Selection(caches: caches[...], isConcurrent: false)
        case .concurrent: return Selection(caches: caches[...], isConcurrent: true)
        case .highestOnly: return Selection(caches: caches.suffix(1), isConcurrent: false)
        case .lowestOnly: return Selection(caches: caches.prefix(1), isConcurrent: false)
        }
    }
}
