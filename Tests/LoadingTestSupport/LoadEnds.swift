package import FoundationEssentials
package import WebImageLoading

extension WebImageManager {
    /// Loads an image, and reports when nothing follows: before the last call of the completion, and after the interim
    /// result that turned out to be the last.
    @discardableResult
    package func loadImage(
        with url: URL?,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        progress: (@Sendable (LoadProgress) -> Void)? = nil,
        end: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<WebImageResult, WebImageError>) -> Void
    ) -> WebImageLoadOperation {
        loadDeliveries(with: url, options: options, context: context, progress: progress) { delivery in
            switch delivery {
            case .interim(let result): completion(.success(result))
            case .last(let result):
                end()
                completion(result)
            case .nothingMore: end()
            }
        }
    }
}

extension WebImageLoadEvent.Kind {
    /// A Boolean value that indicates whether nothing follows.
    package var isEnd: Bool {
        switch self {
        case .delivered, .cancelled, .failed: true
        default: false
        }
    }
}
