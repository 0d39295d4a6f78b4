/// The requirements of an ``ImageCache`` for its memory level; ``MemoryCache`` is the library's implementation.
///
/// Methods are called on any thread, including the main thread, and must neither block nor take long.
public protocol MemoryCaching: AnyObject, Sendable {
    /// Returns the image of a key; nil if it is not cached.
    func image(forKey key: String) -> Image?
    /// Stores an image with a cost of `cost` bytes (nil: its ``Image/memoryCost``); a nil image removes the entry.
    func setImage(_ image: Image?, forKey key: String, cost: Int?)
    /// Removes an image.
    func removeImage(forKey key: String)
    /// Removes an image if it is still stored under the key.
    func removeImage(_ image: Image, forKey key: String)
    /// Removes all images.
    func removeAll()
    /// Releases images that can be loaded again, because memory is short. By default, all images are removed.
    func didReceiveMemoryWarning()
    /// Releases images that are not worth their memory while the program is in the background. By default, none are released.
    ///
    /// - Parameter share: the share to leave, 0...1: ``ImageCacheConfig/backgroundMemoryShare``.
    func didEnterBackground(leaving share: Double)
    /// Applies limits; called when the cache is created and whenever ``ImageCache/config`` changes.
    func apply(_ config: ImageCacheConfig)
}

extension MemoryCaching {
    /// Looks the image up, then removes it; a cache that can do both atomically should.
    public func removeImage(_ image: Image, forKey key: String) {
        if self.image(forKey: key) === image { removeImage(forKey: key) }
    }

    /// Removes all images.
    public func didReceiveMemoryWarning() { removeAll() }

    /// Releases nothing.
    public func didEnterBackground(leaving share: Double) {}
}

extension MemoryCache: MemoryCaching {
    /// Applies ``ImageCacheConfig/maxMemoryCost``, ``ImageCacheConfig/maxMemoryCount`` and
    /// ``ImageCacheConfig/shouldUseWeakMemoryCache``.
    public func apply(_ config: ImageCacheConfig) {
        maxMemoryCost = config.maxMemoryCost
        maxMemoryCount = config.maxMemoryCount
        usesWeakCache = config.shouldUseWeakMemoryCache
    }
}
