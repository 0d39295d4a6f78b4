extension WebImageManager {
    /// The components of a manager for loads whose context does not override them. Immutable: a change creates a new instance.
    final class Parts: Sendable {
        struct Values: Sendable {
            var transformer: (any ImageTransformer)?
            var cacheKeyFilter: CacheKeyFilter?
            var cacheSerializer: CacheSerializer?
            var optionsProcessor: WebImageOptionsProcessor?
            var observer: (any WebImageLoadObserver)?
            var cachePolicy = CachePolicy.immutable
            var decoding = DecodingPlace.inProcess

            /// True if all values are the defaults.
            var isPlain: Bool {
                transformer == nil && cacheKeyFilter == nil && cacheSerializer == nil && optionsProcessor == nil
                    && observer == nil && cachePolicy == .immutable && decoding == .inProcess
            }
        }

        let values: Values
        init(_ values: Values) { self.values = values }
    }

    struct Settings: Sendable {
        /// Nil if all are the defaults, which is the usual case and costs a load one check.
        var parts: Parts?
        weak var delegate: (any WebImageManagerDelegate)?
        var failedURLLifetime: Double?
    }

    /// The manager's current components; nil if all are the defaults.
    var parts: Parts? { settings.withLock { $0.parts } }

    private func change(_ body: (inout Parts.Values) -> Void) {
        let former = settings.withLock { settings -> Parts? in
            var values = settings.parts?.values ?? Parts.Values()
            body(&values)
            return exchange(&settings.parts, for: values.isPlain ? nil : Parts(values))
        }
        // Released outside the lock: components are user objects, whose deinit may run any code.
        withExtendedLifetime(former) {}
    }

    /// The transformer of images whose load's context has none; nil by default.
    public var transformer: (any ImageTransformer)? {
        get { parts?.values.transformer }
        set { change { $0.transformer = newValue } }
    }

    /// The key filter of loads whose context has none; nil (the default) uses the URL's absolute string.
    public var cacheKeyFilter: CacheKeyFilter? {
        get { parts?.values.cacheKeyFilter }
        set { change { $0.cacheKeyFilter = newValue } }
    }

    /// The serializer that produces the bytes on disk, for loads whose context has none; nil by default.
    public var cacheSerializer: CacheSerializer? {
        get { parts?.values.cacheSerializer }
        set { change { $0.cacheSerializer = newValue } }
    }

    /// The processor that changes options and context of every load before anything else; nil by default.
    public var optionsProcessor: WebImageOptionsProcessor? {
        get { parts?.values.optionsProcessor }
        set { change { $0.optionsProcessor = newValue } }
    }

    /// The observer of every event in every load of this manager; nil by default. A context's observer is also notified.
    public var observer: (any WebImageLoadObserver)? {
        get { parts?.values.observer }
        set { change { $0.observer = newValue } }
    }

    /// The policy that decides how long cached images stay usable, for loads whose context has none. ``CachePolicy/immutable`` by
    /// default: the content of a URL never changes, as in SDWebImage.
    ///
    /// Images in memory are validated without a task or a hop if their validators are in memory, too: those of the 4096 most
    /// recently used entries.
    public var cachePolicy: CachePolicy {
        get { parts?.values.cachePolicy ?? .immutable }
        set { change { $0.cachePolicy = newValue } }
    }

    /// The place where images are decoded for loads whose context has none. ``DecodingPlace/inProcess`` by default. An image in memory is
    /// used wherever it was decoded.
    public var decoding: DecodingPlace {
        get { parts?.values.decoding ?? .inProcess }
        set { change { $0.decoding = newValue } }
    }

    /// The number of seconds for which a permanently failed URL is not tried again. Nil (the default) is the lifetime of the
    /// process; with 0 or less, failures are not remembered. Applies to failures after the change.
    public var failedURLLifetime: Double? {
        get { settings.withLock { $0.failedURLLifetime } }
        set { settings.withLock { $0.failedURLLifetime = newValue } }
    }

    private static let cache = Lock<(any ImageCaching)?>(nil)
    private static let loader = Lock<(any ImageLoading)?>(nil)

    /// The cache of managers created later without one; ``ImageCache/shared`` if nil, the default. ``shared`` is created on first
    /// use.
    public static var defaultImageCache: (any ImageCaching)? {
        get { cache.withLock { $0 } }
        set { withExtendedLifetime(cache.withLock { exchange(&$0, for: newValue) }) {} }
    }

    /// The loader of managers created later without one; ``ImageLoadersManager/shared`` if nil, the default. ``shared`` is
    /// created on first use.
    public static var defaultImageLoader: (any ImageLoading)? {
        get { loader.withLock { $0 } }
        set { withExtendedLifetime(loader.withLock { exchange(&$0, for: newValue) }) {} }
    }
}

/// Replaces a value and returns the previous one, so that the caller can release it outside a lock.
func exchange<Value>(_ place: inout Value, for value: Value) -> Value {
    defer { place = value }
    return place
}
