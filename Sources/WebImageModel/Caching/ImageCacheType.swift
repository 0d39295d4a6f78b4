/// A cache level: the source of an image, or the target of a query or a store.
public enum ImageCacheType: Int, Sendable, Hashable {
    /// As a source: a loader, not a cache. As a target: nowhere.
    case none = 0
    /// The disk cache.
    case disk = 1
    /// The memory cache.
    case memory = 2
    /// As a target: memory and disk.
    case all = 3

    /// Indicates whether the level includes memory.
    public var includesMemory: Bool { self == .memory || self == .all }
    /// Indicates whether the level includes disk.
    public var includesDisk: Bool { self == .disk || self == .all }

    /// Creates the level that consists of these parts.
    package init(memory: Bool, disk: Bool) {
        self = memory ? (disk ? .all : .memory) : (disk ? .disk : .none)
    }
}
