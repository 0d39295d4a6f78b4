/// How urgent a piece of work is. Shared work has the highest priority of those who wait for it.
public enum LoadPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// After everything else, for example prefetching.
    case low = 0
    /// The default.
    case normal = 1
    /// Before everything else, for example what is on the screen now.
    case high = 2

    /// Orders by urgency.
    public static func < (left: LoadPriority, right: LoadPriority) -> Bool { left.rawValue < right.rawValue }
}
