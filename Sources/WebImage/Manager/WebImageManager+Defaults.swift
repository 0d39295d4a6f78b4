extension WebImageManager {
    private static let cache = Lock<(any ImageCaching)?>(nil)
    private static let loader = Lock<(any ImageLoading)?>(nil)

    /// The cache of managers that are made later without one; ``ImageCache/shared`` when nil, which it is by default.
    /// ``shared`` is made when it is first used.
    public static var defaultImageCache: (any ImageCaching)? {
        get { cache.withLock { $0 } }
        set { withExtendedLifetime(cache.withLock { exchange(&$0, for: newValue) }) {} }
    }

    /// The loader of managers that are made later without one; ``ImageLoadersManager/shared`` when nil, which it is by default.
    /// ``shared`` is made when it is first used.
    public static var defaultImageLoader: (any ImageLoading)? {
        get { loader.withLock { $0 } }
        set { withExtendedLifetime(loader.withLock { exchange(&$0, for: newValue) }) {} }
    }
}

/// Puts a value in place of another and returns that, for the caller to let go of it outside a lock.
func exchange<Value>(_ place: inout Value, for value: Value) -> Value {
    defer { place = value }
    return place
}
