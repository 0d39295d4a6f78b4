/// A level of the cache: where an image came from, or where to look and store.
public enum ImageCacheType: Int, Sendable, Hashable {
    /// As a source: not from a cache but from a loader. As a target: nowhere.
    case none = 0
    /// The disk cache.
    case disk = 1
    /// The memory cache.
    case memory = 2
    /// As a target: memory and disk.
    case all = 3

    /// Whether memory is meant.
    public var includesMemory: Bool { self == .memory || self == .all }
    /// Whether disk is meant.
    public var includesDisk: Bool { self == .disk || self == .all }

    /// The level of the two parts.
    public init(memory: Bool, disk: Bool) {
        self = memory ? (disk ? .all : .memory) : (disk ? .disk : .none)
    }
}
