import FoundationEssentials
import WebImage

// The calls in the tables of the comparisons.

enum TableSnippets {
    static func loads(url: URL, fileURL: URL) async throws {
        WebImageManager.shared.loadImage(with: url) { result in
            _ = result
        }
        _ = try await WebImageManager.shared.image(with: url)
        _ = try await WebImageManager.shared.image(with: fileURL)
        _ = try await WebImageManager.shared.data(with: url)
        _ = WebImageManager.shared.events(with: url)
        WebImageManager.shared.removeFailedURL(url)
    }

    static func options() -> [WebImageOptions] {
        [
            .fromLoaderOnly, .fromCacheOnly, .waitStoreCache, .queryDiskDataSync, .decodeFirstFrameOnly,
            .highPriority,
        ]
    }

    static func operation(_ operation: WebImageLoadOperation) {
        operation.setPriority(.high)
        operation.cancel()
    }

    static func context(size: ImageSize, cache: ImageCache, key: String) -> WebImageContext {
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 200, height: 200)
        context.thumbnailPixelSize = ImageSize(width: 400, height: 300)
        context.thumbnailPixelSize = ImageSize(width: 400, height: 400)
        context.imageTransformer = .transformer(ResizingTransformer(size: size, scaleMode: .aspectFill))
        context.imageTransformer = WebImageContext.TransformerChoice.none
        context.storeCacheType = .memory
        context.originalStoreCacheType = ImageCacheType.none
        context.queryCacheType = .disk
        context.callbackQueue = .global
        context.callbackQueue = .inline
        context.imageScaleFactor = 2
        context.imageCache = cache
        context.originalImageCache = cache
        context.cacheKeyFilter = CacheKeyFilter { _ in key }
        context.cacheSerializer = CacheSerializer { image, data, url in
            image == nil || url == nil ? nil : data
        }
        context.downloadRequestModifier = DownloadRequestModifier { request in
            request
        }
        context.redirectHandler = DownloadRedirectHandler { response, next in
            response.statusCode == 303 ? .stop : .follow(next)
        }
        context.retryPolicy = DownloadRetryPolicy()
        return context
    }

    static func managers(cache: ImageCache, loader: any ImageLoading) -> [WebImageManager] {
        WebImageManager.shared.cacheKeyFilter = CacheKeyFilter { $0.path }
        WebImageManager.shared.cacheSerializer = CacheSerializer { image, data, url in
            image == nil || url == nil ? nil : data
        }
        WebImageManager.shared.optionsProcessor = WebImageOptionsProcessor { url, options, context in
            url == nil ? nil : WebImageOptionsResult(options: options, context: context)
        }
        return [WebImageManager(cache: cache, loader: loader), WebImageManager(loader: loader)]
    }

    static func caches(image: Image, data: Data, key: String, n: Int) async {
        _ = await ImageCache.shared.queryImage(forKey: key)
        _ = ImageCache.shared.memoryImage(forKey: key)
        await ImageCache.shared.store(image, data: data, forKey: key)
        _ = ImageCache.shared.diskDataExists(forKey: key)
        _ = await ImageCache.shared.containsImage(forKey: key)
        await ImageCache.shared.removeImage(forKey: key)
        await ImageCache.shared.clear(.disk)
        await ImageCache.shared.clear()
        await ImageCache.shared.flush()
        await ImageCache.shared.removeExpiredData()
        ImageCache.shared.config.maxDiskSize = 100 << 20
        ImageCache.shared.config.maxMemoryCost = n
        ImageCache.shared.config.maxDiskSize = n
        ImageCache.shared.config.maxDiskAge = 7 * 86_400
    }

    static func downloader() -> DownloadObservation {
        WebImageDownloader.shared.setValue("v", forHTTPHeaderField: "f")
        WebImageDownloader.shared.config.maxConcurrentDownloads = 4
        WebImageDownloader.shared.config.downloadTimeout = 15
        WebImageDownloader.shared.requestModifier = DownloadRequestModifier { request in
            request
        }
        return WebImageDownloader.shared.observe { event in
            print(event)
        }
    }

    static func parts(
        urls: [URL],
        coder: any ImageCoder,
        loader: any ImageLoading,
        first: any ImageTransformer,
        second: any ImageTransformer
    ) -> PipelineTransformer {
        WebImagePrefetcher.shared.prefetch(urls)
        WebImagePrefetcher.shared.prefetch(urls, target: .disk)
        WebImagePrefetcher.shared.prefetch(urls) { result in
            print(result)
        }
        WebImagePrefetcher.shared.isSuspended = true
        ImageCodersManager.shared.add(coder)
        ImageLoadersManager.shared.add(loader)
        return PipelineTransformer([first, second])
    }
}
