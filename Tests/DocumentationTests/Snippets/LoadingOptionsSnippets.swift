import FoundationEssentials
import WebImage

enum LoadingOptionsSnippets {
    static func overview(url: URL) async throws {
        // snippet: options and context
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 200, height: 200)
        context.storeCacheType = .memory
        let image = try await WebImageManager.shared.image(
            with: url,
            options: [.highPriority, .retryFailed],
            context: context
        )
        // end
        show(image)
    }

    static func refresh(url: URL) async throws {
        // snippet: refresh
        for try await case .result(let result) in WebImageManager.shared.events(with: url, options: .refreshCached) {
            show(result.image)
            print(result.isFinal ? "this is the newest" : "from the cache; a newer one may follow")
        }
        // end
    }

    static func failed(url: URL) {
        // snippet: failed URLs
        WebImageManager.shared.failedURLLifetime = 300
        WebImageManager.shared.removeFailedURL(url)
        // end
    }

    static func decoding() -> WebImageContext {
        // snippet: decode options
        var decoding = ImageDecodeOptions()
        decoding.scalingQuality = .fast
        decoding.pixelFormat = .bgra8Premultiplied
        decoding.limits.maximumPixelCount = 50_000_000
        var context = WebImageContext()
        context.decodeOptions = decoding
        // end
        return context
    }

    static func transformer() -> WebImageContext {
        // snippet: transformer
        var context = WebImageContext()
        context.imageTransformer = .transformer(
            ResizingTransformer(size: ImageSize(width: 96, height: 96), scaleMode: .aspectFill)
        )
        // end
        return context
    }

    static func prefetch(urls: [URL]) {
        // snippet: prefetch
        let token = WebImagePrefetcher.shared.prefetch(urls, target: .disk) { progress in
            print("\(progress.finishedCount - progress.skippedCount) of \(progress.totalCount) are there")
        }
        token.setPriority(.normal)
        // end
    }

    static func headers(token: String) -> WebImageContext {
        // snippet: headers
        var context = WebImageContext()
        context.additionalHeaders["Authorization"] = "Bearer \(token)"
        // end
        return context
    }

    static func modifier() {
        // snippet: request modifier
        let signer = DownloadRequestModifier(asynchronously: { request in
            var request = request
            request.headers["Authorization"] = await session.token(for: request.url)
            return request
        })
        WebImageDownloader.shared.requestModifier = signer
        // end
    }

    static func retries() {
        // snippet: retry policy
        var policy = DownloadRetryPolicy()
        policy.maximumRetryCount = 4
        policy.baseDelay = 1
        policy.maximumDelay = 60
        policy.retryableStatusCodes.remove(500)
        WebImageDownloader.shared.config.retryPolicy = policy
        // end
    }

    static func processor() {
        // snippet: options processor
        WebImageManager.shared.optionsProcessor = WebImageOptionsProcessor { url, options, context in
            guard url?.host() == "avatars.example" else { return nil }
            var context = context
            context.thumbnailPixelSize = ImageSize(width: 128, height: 128)
            return WebImageOptionsResult(options: options.union(.refreshCached), context: context)
        }
        // end
    }

    // snippet: delegate
    final class Metered: WebImageManagerDelegate {
        func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool { !isOnMeteredLine() }
    }
    // end

    static func ownValues() -> WebImageContext {
        // snippet: context key
        enum Screen: WebImageContextKey { static let defaultValue = "" }

        var context = WebImageContext()
        context[Screen.self] = "gallery"
        // end
        return context
    }

    static func ownOptions() -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        // snippet: option key
        enum Exposure: OptionKey { static let defaultValue = 0.0 }
        options.values[Exposure.self] = 1.5
        // end
        return options
    }
}
