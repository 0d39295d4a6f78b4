public import FoundationEssentials

/// Loads pictures that are written into `data:` URLs.
public final class DataURLImageLoader: ImageLoading {
    /// A loader with the default limit.
    public static let shared = DataURLImageLoader()

    /// Most bytes of decoded data; more are ``WebImageError/Code/limitExceeded``, named `maximumDataURLByteCount`.
    public let maximumDataURLByteCount: Int
    private let sniffer: PictureSniffer?

    /// A loader.
    ///
    /// - Parameter maximumDataURLByteCount: 32 MiB by default.
    public init(maximumDataURLByteCount: Int = 32 << 20) {
        self.maximumDataURLByteCount = maximumDataURLByteCount
        sniffer = nil
    }

    /// A loader within the bounds of a policy.
    package init(_ policy: SourcePolicy) {
        maximumDataURLByteCount = policy.maximumByteCount
        sniffer = PictureSniffer(formats: policy.formats)
    }

    /// Whether the scheme is data.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { url.scheme?.lowercased() == "data" }

    /// Decodes the URL; both closures are called on a background thread.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let (limit, sniffer) = (maximumDataURLByteCount, sniffer)
        return LoadReceiver(url: request.url, progress: progress, completion: completion)
            .load(on: .fileReading, priority: request.priority) { receiver throws(WebImageError) in
                let data = try DataURL(request.url.absoluteString, limit: limit).data
                guard !data.isEmpty else { throw WebImageError(.badImageData, "the data URL is empty") }
                if let problem = sniffer?.problem(of: data) { throw problem }
                receiver.post(LoadProgress(receivedByteCount: Int64(data.count), expectedByteCount: Int64(data.count)))
                return data
            }
    }

    /// A data URL never changes: whatever fails once fails again, but for a limit, which may be raised.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        error.code == .invalidURL || error.code == .badImageData
    }
}
