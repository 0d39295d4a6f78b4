extension WebImageManager {
    private struct Defaults {
        var cache: (any ImageCaching)?
        var loader: (any ImageLoading)?
        var memoryBudget: DecodedMemoryBudget?
    }

    private static let defaults = Lock(Defaults())

    /// The cache of managers that are made later without one; ``ImageCache/shared`` when nil, which it is by default.
    /// ``shared`` is made when it is first used.
    public static var defaultImageCache: (any ImageCaching)? {
        get { defaults.withLock { $0.cache } }
        set { withExtendedLifetime(defaults.withLock { exchange(&$0.cache, for: newValue) }) {} }
    }

    /// The loader of managers that are made later without one; ``ImageLoadersManager/shared`` when nil, which it is by default.
    /// ``shared`` is made when it is first used.
    public static var defaultImageLoader: (any ImageLoading)? {
        get { defaults.withLock { $0.loader } }
        set { withExtendedLifetime(defaults.withLock { exchange(&$0.loader, for: newValue) }) {} }
    }

    /// The budget of managers that are made later without one; ``DecodedMemoryBudget/shared`` when nil, which it is by default.
    /// ``shared`` is made when it is first used.
    public static var defaultMemoryBudget: DecodedMemoryBudget? {
        get { defaults.withLock { $0.memoryBudget } }
        set { withExtendedLifetime(defaults.withLock { exchange(&$0.memoryBudget, for: newValue) }) {} }
    }
}

/// Puts a value in place of another and returns that, for the caller to let go of it outside a lock.
func exchange<Value>(_ place: inout Value, for value: Value) -> Value {
    defer { place = value }
    return place
}
