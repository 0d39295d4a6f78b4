extension WebImageManager {
    /// What a manager uses for loads whose context does not say otherwise. Never changed: a change makes another one.
    final class Parts: Sendable {
        struct Values: Sendable {
            var transformer: (any ImageTransformer)?
            var cacheKeyFilter: CacheKeyFilter?
            var cacheSerializer: CacheSerializer?
            var optionsProcessor: WebImageOptionsProcessor?
            var observer: (any WebImageLoadObserver)?
            var cachePolicy = CachePolicy.immutable
            var decoding = DecodingPlace.inProcess

            /// Whether there is nothing.
            var isPlain: Bool {
                transformer == nil && cacheKeyFilter == nil && cacheSerializer == nil && optionsProcessor == nil
                    && observer == nil && cachePolicy == .immutable && decoding == .inProcess
            }
        }

        let values: Values
        init(_ values: Values) { self.values = values }
    }

    struct Settings: Sendable {
        /// Nil when the manager has no parts of its own, as most have none: a load then sees so by one look.
        var parts: Parts?
        weak var delegate: (any WebImageManagerDelegate)?
        var failedURLLifetime: Double?
    }

    /// The manager's own parts at present; nil when it has none.
    var parts: Parts? { settings.withLock { $0.parts } }

    private func change(_ body: (inout Parts.Values) -> Void) {
        let former = settings.withLock { settings -> Parts? in
            var values = settings.parts?.values ?? Parts.Values()
            body(&values)
            return exchange(&settings.parts, for: values.isPlain ? nil : Parts(values))
        }
        // Parts are the user's, who may do anything when one goes.
        withExtendedLifetime(former) {}
    }

    /// Applied to every image whose load's context does not say otherwise; nil by default.
    public var transformer: (any ImageTransformer)? {
        get { parts?.values.transformer }
        set { change { $0.transformer = newValue } }
    }

    /// Makes the keys of loads whose context has no filter; nil (the default) means the URL's absolute string.
    public var cacheKeyFilter: CacheKeyFilter? {
        get { parts?.values.cacheKeyFilter }
        set { change { $0.cacheKeyFilter = newValue } }
    }

    /// Makes the bytes that go to disk, for loads whose context has no serializer; nil by default.
    public var cacheSerializer: CacheSerializer? {
        get { parts?.values.cacheSerializer }
        set { change { $0.cacheSerializer = newValue } }
    }

    /// Changes options and context of every load before anything else looks at them; nil by default.
    public var optionsProcessor: WebImageOptionsProcessor? {
        get { parts?.values.optionsProcessor }
        set { change { $0.optionsProcessor = newValue } }
    }

    /// Hears of everything that happens in every load of this manager; nil by default. A context's observer is told, too.
    public var observer: (any WebImageLoadObserver)? {
        get { parts?.values.observer }
        set { change { $0.observer = newValue } }
    }

    /// Who decides how long a cached picture serves, for loads whose context does not say. ``CachePolicy/immutable`` by default:
    /// SDWebImage's rule, that what a URL stands for never changes.
    ///
    /// Pictures in memory are judged without a task or a hop, as far as what is known of their entries is in memory, too: of the
    /// last 4096 that were used.
    public var cachePolicy: CachePolicy {
        get { parts?.values.cachePolicy ?? .immutable }
        set { change { $0.cachePolicy = newValue } }
    }

    /// Where the pictures of loads are decoded whose context does not say. ``DecodingPlace/inProcess`` by default. What was decoded elsewhere
    /// before, and is in memory, serves all the same.
    public var decoding: DecodingPlace {
        get { parts?.values.decoding ?? .inProcess }
        set { change { $0.decoding = newValue } }
    }

    /// How many seconds a URL that failed for good is not tried again; nil (the default) means as long as the process lives,
    /// and 0 or less that failures are not remembered. Applies to failures after the change.
    public var failedURLLifetime: Double? {
        get { settings.withLock { $0.failedURLLifetime } }
        set { settings.withLock { $0.failedURLLifetime = newValue } }
    }

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
