public import FoundationEssentials

/// The result of a query.
public struct ImageCacheResult: Sendable {
    /// The image; nil if none was found.
    public var image: Image?
    /// The encoded bytes, if they were read from disk.
    public var data: Data?
    /// The source of the image: memory, disk, or none.
    public var cacheType: ImageCacheType

    /// Creates a result.
    package init(image: Image? = nil, data: Data? = nil, cacheType: ImageCacheType = .none) {
        self.image = image
        self.data = data
        self.cacheType = cacheType
    }
}

/// A running query.
///
/// Cancelling delivers an empty result at once (on the callback queue, so before the call returns if that is the main queue and
/// the caller is on the main thread), and nothing after it.
public final class ImageCacheToken: WebImageOperation {
    /// The queried key.
    public let key: String

    let result: PendingResult<ImageCacheResult>
    private let callbackQueue: CallbackQueue

    init(key: String, callbackQueue: CallbackQueue, completion: @escaping @Sendable (ImageCacheResult) -> Void) {
        self.key = key
        self.callbackQueue = callbackQueue
        result = PendingResult(completion)
    }

    /// Cancels the query.
    public func cancel() {
        guard let completion = result.cancel() else { return }
        callbackQueue.async { completion(ImageCacheResult()) }
    }

    /// A Boolean value that indicates whether ``cancel()`` was called before the result was delivered.
    public var isCancelled: Bool { result.isCancelled }

    /// Subscribes to shared work, unless the query was cancelled. A later stage replaces the work of an earlier one.
    func wait(
        for work: any Work,
        priority: LoadPriority,
        stage: Int = 0,
        then body: @escaping @Sendable (WorkResult) -> Void
    ) {
        guard let place = Pipeline.shared.subscribe(to: work, priority: priority, completion: body) else { return }
        result.attach(place, stage: stage)
    }

    /// Delivers on the callback queue. A cancellation before that takes precedence.
    func finish(_ value: ImageCacheResult) {
        guard result.isWanted else { return }
        callbackQueue.async { self.result.finish(value) }
    }
}
