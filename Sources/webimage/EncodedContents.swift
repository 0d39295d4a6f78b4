import FoundationEssentials
import WebImage

/// An encoded image, or a video of which only parts are read.
enum EncodedContents: Sendable {
    case data(Data)
    case video(any ImageByteSource)

    /// Loads a URL without caches.
    init(_ url: URL, by loader: any ImageLoading, _ options: WebImageOptions) async throws(WebImageError) {
        var request = ImageLoadRequest(url: url, options: options)
        request.readsParts = true
        let loaded: Result<LoadedImageData, WebImageError> = await awaitOperation { [request] completion in
            loader.load(request, progress: { _ in }, completion: completion)
        }
        let result = try loaded.get()
        self = result.byteSource.map { .video($0) } ?? .data(result.data)
    }

    var byteCount: Int {
        switch self {
        case .data(let data): data.count
        case .video(let source): source.byteCount
        }
    }

    func properties(_ coder: any ImageCoder, _ limits: ImageLimits) async throws(WebImageError) -> ImageProperties {
        switch self {
        case .data(let data): return try await ImageProperties.read(from: data, limits: limits, coder: coder)
        case .video(let source):
            return try await CodingQueue.queue(of: coder, for: source.beginning).run { () throws(WebImageError) in
                try coder.decodingSources(of: format).properties(of: source, limits: limits)
            }
        }
    }

    func image(_ coder: any ImageCoder, _ options: ImageDecodeOptions) async throws(WebImageError) -> Image {
        switch self {
        case .data(let data): return try await Image.decode(data, options: options, coder: coder)
        case .video(let source):
            return try await CodingQueue.queue(of: coder, for: source.beginning).run { () throws(WebImageError) in
                try coder.decodingSources(of: format).decode(source, options: options)
            }
        }
    }

    private var format: ImageFormat {
        switch self {
        case .data(let data): ImageFormat(detecting: data)
        case .video(let source): ImageFormat(detecting: source.beginning)
        }
    }
}
