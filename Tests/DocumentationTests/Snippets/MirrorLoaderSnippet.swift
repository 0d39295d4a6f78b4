import FoundationEssentials
import WebImage

// snippet: mirror
final class MirrorLoader: ImageLoading {
    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { url.host() == "pictures.example" }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        var request = request
        request.url = mirror(of: request.url)
        return WebImageDownloader.shared.load(request, progress: progress, completion: completion)
    }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        WebImageDownloader.shared.shouldBlockFailedURL(url, error: error)
    }
}
// end
