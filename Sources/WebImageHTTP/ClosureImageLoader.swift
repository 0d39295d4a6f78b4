public import FoundationEssentials

/// A loader made from a closure, for images that do not come from the network.
///
/// ```swift
/// let avatars = ClosureImageLoader(scheme: "avatar") { request in
///     try await database.image(of: request.url.host() ?? "")
/// }
/// ImageLoadersManager.shared.add(avatars)
/// ```
///
/// The closure runs in a separate task for each load, which is cancelled with the load. Each load has exactly one completion: a
/// cancelled load ends at once, and a result that the closure returns afterwards is dropped.
public final class ClosureImageLoader: ImageLoading {
    private let condition: @Sendable (URL, WebImageOptions) -> Bool
    private let blocks: @Sendable (URL, WebImageError) -> Bool
    private let load:
        @Sendable (ImageLoadRequest, @escaping @Sendable (LoadProgress) -> Void) async throws -> LoadedImageData

    /// Creates a loader of the URLs that `canLoad` accepts.
    ///
    /// - Parameters:
    ///   - canLoad: returns whether the loader handles a URL; called on any thread, must be quick.
    ///   - shouldBlock: returns whether a URL that failed with this error is not tried again until explicitly requested. By default,
    ///     invalid URLs and data that is not an image are not.
    ///   - load: called for each load, on Swift's cooperative threads; may report progress until it returns. It must not block. Errors
    ///     other than ``WebImageError`` are delivered as ``WebImageError/Code/transportFailed`` with the error as the cause.
    public init(
        canLoad: @escaping @Sendable (_ url: URL, _ options: WebImageOptions) -> Bool,
        shouldBlock: @escaping @Sendable (_ url: URL, _ error: WebImageError) -> Bool = { _, error in
            error.code == .invalidURL || error.code == .badImageData
        },
        load:
            @escaping @Sendable (
                _ request: ImageLoadRequest, _ report: @escaping @Sendable (LoadProgress) -> Void
            ) async throws -> LoadedImageData
    ) {
        condition = canLoad
        blocks = shouldBlock
        self.load = load
    }

    /// Creates a loader of the URLs of one scheme, from a closure that returns an image's bytes.
    ///
    /// - Parameters:
    ///   - scheme: the scheme, in upper or lower case.
    ///   - load: called for each load, on Swift's cooperative threads. It must not block.
    public convenience init(
        scheme: String,
        load: @escaping @Sendable (_ request: ImageLoadRequest) async throws -> Data
    ) {
        let scheme = scheme.lowercased()
        self.init(
            canLoad: { url, _ in url.scheme?.lowercased() == scheme },
            load: { request, _ in LoadedImageData(data: try await load(request)) }
        )
    }

    /// Returns the result of the `canLoad` closure.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { condition(url, options) }

    /// Starts a load.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        let receiver = LoadReceiver(url: request.url, progress: progress, completion: completion)
        let task = Task(priority: request.priority.ofTasks) { [load] in
            do {
                receiver.finish(.success(try await load(request) { receiver.post($0) }))
            } catch {
                receiver.finish(.failure(Self.error(error).with(url: request.url)))
            }
        }
        return receiver.load(by: .task(task))
    }

    /// Returns the result of the `shouldBlock` closure.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool { blocks(url, error) }

    private static func error(_ error: any Error) -> WebImageError {
        if let error = error as? WebImageError { return error }
        if error is CancellationError { return .cancelled() }
        return WebImageError(.transportFailed, "the loader failed", underlyingError: error)
    }
}

extension LoadPriority {
    fileprivate var ofTasks: TaskPriority {
        switch self {
        case .low: .low
        case .normal: .medium
        case .high: .high
        }
    }
}
