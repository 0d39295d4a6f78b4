/// A cache of the package around an ``ImageCache``, whose memory and disk it uses.
package protocol LocalCacheOwner: ImageCaching {
    var localCache: ImageCache { get }
}

extension ImageCaching {
    /// The library's cache in this process: this cache, or the one inside it; nil for a cache of another module.
    package var localImageCache: ImageCache? { (self as? ImageCache) ?? (self as? any LocalCacheOwner)?.localCache }
}
