extension WebImageManager {
    /// What a manager uses for loads whose context does not say otherwise.
    struct Settings: Sendable {
        var transformer: (any ImageTransformer)?
        var cacheKeyFilter: CacheKeyFilter?
        var cacheSerializer: CacheSerializer?
        var observer: (any WebImageLoadObserver)?
    }

    /// Applied to every image whose load's context does not say otherwise; nil by default.
    public var transformer: (any ImageTransformer)? {
        get { settings.withLock { $0.transformer } }
        set { withExtendedLifetime(settings.withLock { exchange(&$0.transformer, for: newValue) }) {} }
    }

    /// Makes the keys of loads whose context has no filter; nil (the default) means the URL's absolute string.
    public var cacheKeyFilter: CacheKeyFilter? {
        get { settings.withLock { $0.cacheKeyFilter } }
        set { withExtendedLifetime(settings.withLock { exchange(&$0.cacheKeyFilter, for: newValue) }) {} }
    }

    /// Makes the bytes that go to disk, for loads whose context has no serializer; nil by default.
    public var cacheSerializer: CacheSerializer? {
        get { settings.withLock { $0.cacheSerializer } }
        set { withExtendedLifetime(settings.withLock { exchange(&$0.cacheSerializer, for: newValue) }) {} }
    }

    /// Hears of everything that happens in every load of this manager; nil by default. A context's observer is told, too.
    public var observer: (any WebImageLoadObserver)? {
        get { settings.withLock { $0.observer } }
        set { withExtendedLifetime(settings.withLock { exchange(&$0.observer, for: newValue) }) {} }
    }
}

/// Puts a value in place of another and returns that, for the caller to let go of it outside a lock.
private func exchange<Value>(_ place: inout Value, for value: Value) -> Value {
    defer { place = value }
    return place
}
