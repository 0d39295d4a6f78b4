public import FoundationEssentials

/// What a query found.
public struct ImageCacheResult: Sendable {
    /// The image, nil when there is none.
    public var image: Image?
    /// The encoded bytes, if they were read from disk.
    public var data: Data?
    /// Where the image came from: memory, disk, or none when there is none.
    public var cacheType: ImageCacheType

    /// A result of its parts.
    public init(image: Image? = nil, data: Data? = nil, cacheType: ImageCacheType = .none) {
        self.image = image
        self.data = data
        self.cacheType = cacheType
    }
}

/// A query under way.
///
/// Cancelling delivers an empty result at once (on the callback queue, so before the call returns if that is the main queue
/// and the caller is on the main thread), and nothing after it.
public final class ImageCacheToken: WebImageOperation {
    /// What is looked for.
    public let key: String

    let result: PendingResult<ImageCacheResult>
    private let callbackQueue: CallbackQueue

    init(key: String, callbackQueue: CallbackQueue, completion: @escaping @Sendable (ImageCacheResult) -> Void) {
        self.key = key
        self.callbackQueue = callbackQueue
        result = PendingResult(completion)
    }

    /// Gives up the query.
    public func cancel() {
        guard let completion = result.cancel() else { return }
        callbackQueue.async { completion(ImageCacheResult()) }
    }

    /// Whether ``cancel()`` was called before the result was delivered.
    public var isCancelled: Bool { result.isCancelled }

    /// Waits for shared work, unless the query was cancelled. What is waited for in a later stage takes the place of what was before.
    func wait(
        for work: any Work,
        priority: LoadPriority,
        stage: Int = 0,
        then body: @escaping @Sendable (WorkResult) -> Void
    ) {
        guard let place = Pipeline.shared.subscribe(to: work, priority: priority, completion: body) else { return }
        result.attach(place, stage: stage)
    }

    /// Delivers on the callback queue. A cancel that comes before that wins.
    func finish(_ value: ImageCacheResult) {
        guard result.isWanted else { return }
        callbackQueue.async { self.result.finish(value) }
    }
}
