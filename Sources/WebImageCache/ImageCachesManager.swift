/// Several caches that work as one, the one added last first: for example a small one of today's pictures over a big one that
/// is shared with others.
///
/// Every kind of operation has a policy of its own that says which caches take part and in which order. Whatever the policy,
/// and also without caches or without a key, everything that is asked completes exactly once. Safe to use from any thread;
/// a call works with the caches and the policy of its moment, so one that is added or removed meanwhile changes nothing
/// for it.
///
/// Images in memory are cheap to look for, and are looked for in all caches that the query policy names before any of their
/// disks is read: what the memory of a low cache holds is found before what lies on the disk of a higher one.
///
/// Caches managers can be nested, but must not contain each other.
public final class ImageCachesManager: ImageCaching {
    /// Which caches take part in an operation, and in which order.
    public enum OperationPolicy: Int, Sendable, Hashable, CaseIterable {
        /// One after the other, the highest first. Looking for something ends with the first cache that has it.
        case serial = 0
        /// All at once. When something is looked for, the first answer that is not empty counts.
        case concurrent = 1
        /// Only the one with the highest priority.
        case highestOnly = 2
        /// Only the one with the lowest priority.
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

    /// A manager of the caches given, the last having the highest priority.
    public init(caches: [any ImageCaching]) { state = Lock(State(caches: caches)) }

    /// The caches, the last having the highest priority. The manager itself is left out.
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

    /// Removes a cache. What it has been asked before goes on.
    public func remove(_ cache: any ImageCaching) { change { $0.removeAll { $0 === cache } } }

    private func change(_ body: (inout [any ImageCaching]) -> Void) {
        let former = state.withLock { state in
            let former = state.caches
            body(&state.caches)
            return former
        }
        // A cache may go with its last owner, which is not to happen under the lock.
        withExtendedLifetime(former) {}
    }

    /// For looking for images and entries; ``OperationPolicy/serial`` by default.
    public var queryPolicy: OperationPolicy {
        get { state.withLock { $0.query } }
        set { state.withLock { $0.query = newValue } }
    }

    /// For storing; ``OperationPolicy/highestOnly`` by default.
    public var storePolicy: OperationPolicy {
        get { state.withLock { $0.store } }
        set { state.withLock { $0.store = newValue } }
    }

    /// For removing one entry; ``OperationPolicy/concurrent`` by default.
    public var removePolicy: OperationPolicy {
        get { state.withLock { $0.remove } }
        set { state.withLock { $0.remove = newValue } }
    }

    /// For asking whether there is an entry; ``OperationPolicy/serial`` by default.
    public var containsPolicy: OperationPolicy {
        get { state.withLock { $0.contains } }
        set { state.withLock { $0.contains = newValue } }
    }

    /// For removing everything; ``OperationPolicy/concurrent`` by default.
    public var clearPolicy: OperationPolicy {
        get { state.withLock { $0.clear } }
        set { state.withLock { $0.clear = newValue } }
    }

    /// Who takes part in an operation, the highest first, and whether they do at once.
    struct Selection {
        let caches: ArraySlice<any ImageCaching>
        let isConcurrent: Bool
    }

    /// - Parameter key: nobody takes part under an empty one; nil for all keys.
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
