public import FoundationEssentials

/// Loads images that are embedded in `data:` URLs.
public final class DataURLImageLoader: ImageLoading {
    /// A loader with the default limit.
    public static let shared = DataURLImageLoader()

    /// The maximum number of bytes of decoded data. More fail with ``WebImageError/Code/limitExceeded``, named
    /// `maximumDataURLByteCount`.
    package let maximumDataURLByteCount: Int
    private let sniffer: ImageSniffer?

    /// Creates a loader.
    ///
    /// - Parameter maximumDataURLByteCount: 32 MiB by default.
    public init(maximumDataURLByteCount: Int = 32 << 20) {
        self.maximumDataURLByteCount = maximumDataURLByteCount
        sniffer = nil
    }

    /// Creates a loader with the limits of a policy.
    package init(_ policy: SourcePolicy) {
        maximumDataURLByteCount = policy.maximumByteCount
        sniffer = ImageSniffer(formats: policy.formats)
    }

    /// Returns a Boolean value that indicates whether the scheme is `data`.
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

    /// Blocks all failures except exceeded limits: a data URL never changes, but a limit may be raised.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        error.code == .invalidURL || error.code == .badImageData
    }
}
