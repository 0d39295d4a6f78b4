import FoundationEssentials
import WebImage

enum CustomPartsSnippets {
    static func coder() {
        // snippet: coder
        ImageCodersManager.shared.add(PPMCoder())
        // end
    }

    static func exposure() -> WebImageContext {
        var context = WebImageContext()
        // snippet: exposure
        enum Exposure: OptionKey { static let defaultValue = 0.0 }

        var decoding = ImageDecodeOptions()
        decoding.values[Exposure.self] = 1.5
        context.decodeOptions = decoding
        context.cacheKeyFilter = CacheKeyFilter { url in url.absoluteString + "#exposure=1.5" }
        // end
        return context
    }

    static func chains() -> [WebImageContext] {
        var small = WebImageContext()
        var smallAndGray = WebImageContext()
        // snippet: chains
        let resize = ResizingTransformer(size: ImageSize(width: 96, height: 96), scaleMode: .aspectFill)
        small.imageTransformer = .transformer(resize)
        smallAndGray.imageTransformer = .transformer(PipelineTransformer([resize, Grayscale()]))
        // end
        return [small, smallAndGray]
    }

    static func avatars() {
        // snippet: avatars
        let avatars = ClosureImageLoader(scheme: "avatar") { request in
            try await database.image(of: request.url.host() ?? "")
        }
        ImageLoadersManager.shared.add(avatars)
        // end
    }

    static func archive() -> any ImageLoading {
        // snippet: archive
        let archive = ClosureImageLoader(
            canLoad: { url, _ in url.scheme == "archive" },
            load: { request, progress in
                var bytes = Data()
                for try await part in database.parts(of: request.url) {
                    bytes.append(part)
                    progress(LoadProgress(receivedByteCount: Int64(bytes.count), expectedByteCount: nil))
                }
                return LoadedImageData(data: bytes)
            }
        )
        // end
        return archive
    }

    static func sealed() -> ImageCache {
        // snippet: sealed cache
        var config = ImageCacheConfig()
        config.makeDiskCache = { path, config in SealedDisk(path: path, config: config) }
        let cache = ImageCache(namespace: "sealed", config: config)
        // end
        return cache
    }

    static func manager() -> WebImageManager {
        // snippet: own cache
        let manager = WebImageManager(cache: MemoryOnlyCache())
        WebImageManager.defaultImageCache = MemoryOnlyCache()
        // end
        return manager
    }
}
