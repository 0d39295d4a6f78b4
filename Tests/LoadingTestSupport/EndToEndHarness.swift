package import FoundationEssentials
package import TestSupport
package import WebImageLoading

/// The library's own parts together, on a loopback server and a separate cache directory.
package struct EndToEndHarness {
    package let directory = TemporaryDirectory()
    package let cache: ImageCache
    package let downloader: WebImageDownloader
    package let pipeline = Pipeline()
    package let manager: WebImageManager
    package let server: LoopbackServer

    package init(
        cachePath: String? = nil,
        config: WebImageDownloaderConfig = .impatient,
        _ handler: @escaping LoopbackServer.Handler
    ) throws {
        server = try LoopbackServer(handler)
        cache = ImageCache(directory: cachePath ?? directory.path("cache"))
        downloader = WebImageDownloader(config: config)
        manager = WebImageManager(
            cache: cache,
            loader: ImageLoadersManager(loaders: [DataURLImageLoader.shared, FileImageLoader.shared, downloader]),
            pipeline: pipeline
        )
    }

    /// Returns the error of loading a path; nil if it succeeds.
    package func error(_ path: String, options: WebImageOptions = []) async -> WebImageError? {
        await error(server.url(path), options: options)
    }

    package func error(_ url: URL, options: WebImageOptions = []) async -> WebImageError? {
        do throws(WebImageError) {
            _ = try await manager.image(with: url, options: options)
            return nil
        } catch {
            return error
        }
    }
}

extension WebImageDownloaderConfig {
    /// Short timeouts, so that a test of a bad server ends soon.
    package static var impatient: WebImageDownloaderConfig {
        var config = WebImageDownloaderConfig()
        config.downloadTimeout = 0.4
        config.connectTimeout = 2
        return config
    }
}
