import FoundationEssentials
import WebImage

enum ComparisonSnippets {
    static func sdWebImage(url: URL) {
        // snippet: instead of SDWebImage
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 200, height: 200)
        let options: WebImageOptions = [.retryFailed, .highPriority]
        WebImageManager.shared.loadImage(with: url, options: options, context: context) { result in
            switch result {
            case .success(let result): show(result.image)
            case .failure(let error): show(error)
            }
        }
        // end
    }

    static func sdWebImageDirectory() {
        // snippet: SDWebImage's directory
        ImageCache.shared.readOnlyDirectories = ["/home/ada/Library/Caches/com.hackemist.SDImageCache/default"]
        // end
    }

    static func kingfisher(url: URL) {
        // snippet: instead of Kingfisher
        var retries = DownloadRetryPolicy()
        retries.maximumRetryCount = 3
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 200, height: 200)
        context.retryPolicy = retries
        WebImageManager.shared.loadImage(with: url, context: context) { result in
            switch result {
            case .success(let value): show(value.image, value.cacheType)
            case .failure(let error): show(error)
            }
        }
        // end
    }

    static func nuke(url: URL) async throws -> Image {
        // snippet: instead of Nuke
        var context = WebImageContext()
        context.imageTransformer = .transformer(
            ResizingTransformer(size: ImageSize(width: 200, height: 200), scaleMode: .aspectFill)
        )
        let image = try await WebImageManager.shared.image(with: url, options: .highPriority, context: context)
        // end
        return image
    }
}
