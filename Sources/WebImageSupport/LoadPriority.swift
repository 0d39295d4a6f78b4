/// The priority of a piece of work. Coalesced work has the highest priority of its subscribers.
public enum LoadPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After everything else, for example for prefetching.
    case low = 0
    /// The default.
    case normal = 1
    /// Before everything else, for example for what is on the screen now.
    case high = 2

    /// Orders by priority.
    public static func < (left: LoadPriority, right: LoadPriority) -> Bool { left.rawValue < right.rawValue }
}
