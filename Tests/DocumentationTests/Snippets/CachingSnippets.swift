import FoundationEssentials
import WebImage

enum CachingSnippets {
    static func filter() {
        // snippet: key filter
        WebImageManager.shared.cacheKeyFilter = CacheKeyFilter { url in
            var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
            components?.query = nil
            return components?.url?.absoluteString
        }
        // end
    }

    static func keys(url: URL, context: WebImageContext) async {
        // snippet: key
        let key = WebImageManager.shared.cacheKey(for: url, context: context)
        let level = await ImageCache.shared.containsImage(forKey: key)
        if level == .disk, let path = ImageCache.shared.cachePath(forKey: key) { print(path) }
        // end
    }

    static func users(user: String) -> WebImageContext {
        var context = WebImageContext()
        // snippet: key of a user
        let modifier = DownloadRequestModifier(asynchronously: { request in
            var request = request
            request.headers["Authorization"] = await session.token(for: request.url)
            return request
        })
        context.downloadRequestModifier = modifier
        context.cacheKeyFilter = CacheKeyFilter { url in "\(user)/\(url.absoluteString)" }
        // end
        return context
    }

    static func limits() {
        // snippet: limits
        var config = ImageCache.shared.config
        config.maxMemoryCost = 128 << 20
        config.maxDiskSize = 1 << 30
        config.maxDiskAge = 30 * 86_400
        ImageCache.shared.config = config
        // end
    }

    static func use(image: Image, data: Data) async {
        // snippet: store and query
        let cache = ImageCache.shared
        await cache.store(image, data: data, forKey: "avatar/42")
        let found = await cache.queryImage(forKey: "avatar/42")
        print(found.cacheType, found.image?.pixelWidth ?? 0)
        await cache.removeImage(forKey: "avatar/42")
        await cache.clear(.memory)
        let (count, size) = await cache.calculateSize()
        print("\(count) entries, \(size) bytes")
        // end
    }

    static func thumbnailsOnly() -> WebImageContext {
        // snippet: thumbnails only
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 400, height: 300)
        context.originalStoreCacheType = ImageCacheType.none
        // end
        return context
    }

    static func serializer() -> WebImageContext {
        var context = WebImageContext()
        // snippet: serializer
        context.cacheSerializer = CacheSerializer { image, data, _ in
            guard let image, image.format == .png, !image.hasAlpha else { return data }
            var options = ImageEncodeOptions()
            options.compressionQuality = 0.9
            return try? ImageCodersManager.shared.encode(image, to: .jpeg, options: options)
        }
        // end
        return context
    }

    static func extendedData(cache: ImageCache, key: String) async -> Data? {
        // snippet: extended data
        await cache.setExtendedData(Data("by Ada".utf8), forKey: key)
        let credit = await cache.extendedData(forKey: key)
        // end
        return credit
    }

    static func several() -> WebImageManager {
        // snippet: several caches
        var forEver = ImageCacheConfig()
        forEver.maxDiskAge = -1
        let albums = ImageCache(namespace: "albums", config: forEver)
        let caches = ImageCachesManager(caches: [albums, ImageCache.shared])
        caches.clearPolicy = .highestOnly
        let manager = WebImageManager(cache: caches)
        // end
        return manager
    }

    static func readOnly() {
        // snippet: read-only directories
        ImageCache.shared.readOnlyDirectories = ["/usr/share/app/pictures"]
        // end
    }

    static func disk() {
        // snippet: disk cache
        let disk = DiskCache(path: ImageCache.diskCachePath())
        for damaged in disk.verify(removingDamaged: true) { print(damaged.path, damaged.reason) }
        let cleanup = disk.removeExpiredData()
        print("\(cleanup.expiredCount) expired entries removed, \(cleanup.freedByteCount) bytes freed")
        // end
    }
}
