public import FoundationEssentials

/// The registered loaders; itself a loader that forwards to them, starting with the one added last.
public final class ImageLoadersManager: ImageLoading {
    private let list: Lock<[any ImageLoading]>

    /// Creates a manager of the given loaders; the last one has the highest priority.
    public init(loaders: [any ImageLoading]) {
        list = Lock(loaders)
        LoadRights.noteOwners(among: loaders)
    }

    /// The loaders; the last one has the highest priority.
    public var loaders: [any ImageLoading] {
        get { list.withLock { $0 } }
        set {
            LoadRights.noteOwners(among: newValue)
            list.withLock { $0 = newValue }
        }
    }

    /// Adds a loader with the highest priority.
    public func add(_ loader: any ImageLoading) {
        LoadRights.noteOwners(among: [loader])
        list.withLock { $0.append(loader) }
    }

    /// Removes a loader.
    public func remove(_ loader: any ImageLoading) { list.withLock { $0.removeAll { $0 === loader } } }

    /// Returns a Boolean value that indicates whether any loader handles the URL.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool {
        canLoad(ImageLoadRequest(url: url, options: options))
    }

    /// Returns a Boolean value that indicates whether any loader handles the request.
    public func canLoad(_ request: ImageLoadRequest) -> Bool { loader(for: request) != nil }

    /// Starts a load with the first loader that handles the request; without one, it completes at once with
    /// ``WebImageError/Code/invalidURL``.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        guard let loader = loader(for: request) else {
            let words = request.url.scheme.map { "no loader handles \($0) URLs" } ?? "the URL has no scheme"
            completion(.failure(WebImageError(.invalidURL, words, url: request.url)))
            return FinishedLoadOperation()
        }
        return loader.load(request, progress: progress, completion: completion)
    }

    /// Returns the decision of the URL's loader. False for a URL without a loader: one may be added later.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        loader(for: ImageLoadRequest(url: url))?.shouldBlockFailedURL(url, error: error) ?? false
    }

    /// Returns the header fields that the first loader of the request will send.
    public func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders {
        loader(for: request)?.requestHeaders(for: request) ?? request.additionalHeaders
    }

    /// Returns the loader that handles the request.
    package func loader(for request: ImageLoadRequest) -> (any ImageLoading)? {
        loaders.last { $0.canLoad(request) }
    }
}

/// The operation of a load that ended before it started.
final class FinishedLoadOperation: ImageLoaderOperation {
    var isCancelled: Bool { false }
    func cancel() {}
    func setPriority(_ priority: LoadPriority) {}
}
