public import FoundationEssentials

/// The registered loaders; itself a loader that asks them, the one added last first.
public final class ImageLoadersManager: ImageLoading {
    private let list: Lock<[any ImageLoading]>

    /// A manager of the loaders given, the last having the highest priority.
    public init(loaders: [any ImageLoading]) {
        list = Lock(loaders)
        LoadRights.noteOwners(among: loaders)
    }

    /// The loaders, the last having the highest priority.
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

    /// Whether any loader serves the URL.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool {
        canLoad(ImageLoadRequest(url: url, options: options))
    }

    /// Whether any loader serves the request.
    public func canLoad(_ request: ImageLoadRequest) -> Bool { loader(for: request) != nil }

    /// Starts a load with the first loader that serves the request; without one it completes at once with
    /// ``WebImageError/Code/invalidURL``.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        guard let loader = loader(for: request) else {
            let words = request.url.scheme.map { "no loader serves \($0) URLs" } ?? "the URL has no scheme"
            completion(.failure(WebImageError(.invalidURL, words, url: request.url)))
            return FinishedLoadOperation()
        }
        return loader.load(request, progress: progress, completion: completion)
    }

    /// What the loader of the URL says. False for a URL that none serves: a loader may be added that does.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        loader(for: ImageLoadRequest(url: url))?.shouldBlockFailedURL(url, error: error) ?? false
    }

    /// What the first loader that serves the request will send.
    public func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders {
        loader(for: request)?.requestHeaders(for: request) ?? request.additionalHeaders
    }

    /// The loader that serves the request.
    package func loader(for request: ImageLoadRequest) -> (any ImageLoading)? {
        loaders.last { $0.canLoad(request) }
    }
}

/// A load that ended before it began.
final class FinishedLoadOperation: ImageLoaderOperation {
    var isCancelled: Bool { false }
    func cancel() {}
    func setPriority(_ priority: LoadPriority) {}
}
