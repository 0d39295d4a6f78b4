/// What an ``ImageCache`` needs of its memory level; ``MemoryCache`` is the library's own.
///
/// Methods are called on any thread, the main one included, and must neither block nor take long.
public protocol MemoryCaching: AnyObject, Sendable {
    /// The image of a key, nil when it is not here.
    func image(forKey key: String) -> Image?
    /// Stores an image that counts as `cost` bytes (nil: its ``Image/memoryCost``); a nil image removes.
    func setImage(_ image: Image?, forKey key: String, cost: Int?)
    /// Removes an image.
    func removeImage(forKey key: String)
    /// Removes an image if it is still the one that lies under the key.
    func removeImage(_ image: Image, forKey key: String)
    /// Removes all images.
    func removeAll()
    /// Lets go of what can be had again, because memory is short. By default all images are removed.
    func didReceiveMemoryWarning()
    /// Lets go of what is not worth its memory while nobody looks at the program. By default nothing is.
    ///
    /// - Parameter share: how much to leave, 0...1: ``ImageCacheConfig/backgroundMemoryShare``.
    func didEnterBackground(leaving share: Double)
    /// Takes over limits; called when the cache is made and whenever ``ImageCache/config`` changes.
    func apply(_ config: ImageCacheConfig)
}

extension MemoryCaching {
    /// Looks, then removes; a cache that can do both at once should.
    public func removeImage(_ image: Image, forKey key: String) {
        if self.image(forKey: key) === image { removeImage(forKey: key) }
    }

    /// Removes all images.
    public func didReceiveMemoryWarning() { removeAll() }

    /// Leaves everything.
    public func didEnterBackground(leaving share: Double) {}
}

extension MemoryCache: MemoryCaching {
    /// Takes over ``ImageCacheConfig/maxMemoryCost``, ``ImageCacheConfig/maxMemoryCount`` and
    /// ``ImageCacheConfig/shouldUseWeakMemoryCache``.
    public func apply(_ config: ImageCacheConfig) {
        maxMemoryCost = config.maxMemoryCost
        maxMemoryCount = config.maxMemoryCount
        usesWeakCache = config.shouldUseWeakMemoryCache
    }
}
