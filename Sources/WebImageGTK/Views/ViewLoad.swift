import FoundationEssentials
import WebImage

/// A load of a view, from the call to the last delivery.
@MainActor
final class ViewLoad {
    typealias Completion = @MainActor (Result<WebImageResult, WebImageError>) -> Void
    /// Shows an image, or clears the view if it is nil. The result says where the image came from.
    typealias Setter = @MainActor (_ content: PaintableContent?, _ result: WebImageResult?) -> Void
    /// Takes an image, or nil to clear, and returns the paintable in which a transition to it is visible; nil if it is not on the screen,
    /// and then the setter must show it.
    typealias TransitionTarget = @MainActor (_ content: PaintableContent?) -> ImagePaintable?

    /// The arguments of the caller.
    struct Request {
        var url: URL?
        /// The candidates that ``url`` is one of; nil for a single URL.
        var source: ImageSource?
        var placeholder: ViewPlaceholder?
        var options: WebImageOptions
        var context: WebImageContext?
        var progress: (@MainActor (LoadProgress) -> Void)?
        var completed: Completion?
        /// True if the load only adds pixels to the visible image, without callbacks and indicator.
        var isUpgrade = false
        /// True if the setter is the caller's. It is released with the other closures.
        var hasOwnSetter = false
    }

    let slot: ImageSlot
    /// Later loads have higher numbers. A load that only adds pixels has the number of the original load.
    let number: Int
    private(set) var request: Request
    private(set) var setter: Setter
    /// The effective context of the load.
    let context: WebImageContext
    /// True if the setter shows the image in the view's paintable.
    let showsInPaintable: Bool
    var transitionTarget: TransitionTarget?
    private weak var state: ViewState?
    private(set) var operation: WebImageLoadOperation?
    private var isOver = false
    private var isCancelled = false
    private var hasIndicator = false
    /// True after an image that is not a preview has been delivered.
    private var hasImage = false
    /// The number of images that are still being shown; their completion is called afterwards.
    private var untoldCount = 0
    /// The final result, if it must be reported after them.
    private var lastWord: Result<WebImageResult, WebImageError>?
    private let readings = Lock(Readings())

    private struct Readings {
        var latest: LoadProgress?
        /// True if the main thread needs each reading.
        var isHeard = false
        var isPosted = false

        /// Returns whether to wake the main thread.
        mutating func takePost() -> Bool {
            guard isHeard, latest != nil, !isPosted else { return false }
            isPosted = true
            return true
        }
    }

    init(
        _ request: Request,
        context: WebImageContext,
        slot: ImageSlot,
        number: Int,
        state: ViewState,
        setter: @escaping Setter,
        showsInPaintable: Bool
    ) {
        self.slot = slot
        self.showsInPaintable = showsInPaintable
        self.context = context
        self.number = number
        self.request = request
        self.state = state
        self.setter = setter
    }

    /// Captures of the closures may be widgets, which must be released on the main thread.
    isolated deinit {}

    /// Starts the load. An image in memory is delivered before this returns.
    func start(_ url: URL, manager: WebImageManager) {
        if !request.isUpgrade {
            hasIndicator = true
            state?.startIndicator()
        }
        var context = context
        context.customManager = nil
        // Deliveries go through the main loop's queue, or directly if they are made synchronously.
        context.callbackQueue = .inline
        var progress: (@Sendable (LoadProgress) -> Void)?
        readings.withLock { $0.isHeard = request.progress != nil || state?.indicator != nil }
        if !request.isUpgrade { progress = { [weak self] reading in self?.receive(reading) } }
        operation = manager.loadDeliveries(
            with: url,
            options: request.options,
            context: context,
            progress: progress,
            to: { [self] in receive($0) }
        )
        // An image from memory is delivered before there is an operation, and its completion may have cancelled this load.
        if isCancelled { operation?.cancel() }
    }

    /// Ends the load with an error before it has started.
    func fail(_ error: WebImageError) { finish(.failure(error)) }

    /// Cancels the load; its completion gets ``WebImageError/Code/cancelled`` unless it has ended.
    func cancel() {
        isCancelled = true
        operation?.cancel()
        // A result that is still in that queue is not delivered any more.
        finish(.failure(WebImageError(.cancelled, "the view no longer needs the image", url: request.url)))
    }

    // MARK: From any thread

    private nonisolated func receive(_ delivery: WebImageLoadOperation.Delivery) {
        if CallbackQueue.isMainThread {
            MainActor.assumeIsolated { deliver(delivery) }
        } else {
            MainLoopQueue.shared.post { self.deliver(delivery) }
        }
    }

    private nonisolated func receive(_ reading: LoadProgress) {
        // Readings are coalesced into one item; none is posted when nobody listens.
        let mustPost = readings.withLock { readings in
            readings.latest = reading
            return readings.takePost()
        }
        if mustPost { post() }
    }

    private nonisolated func post() {
        MainLoopQueue.shared.post { [weak self] in
            let reading = self?.readings.withLock { readings in
                readings.isPosted = false
                return readings.latest
            }
            if let reading { self?.deliver(reading) }
        }
    }

    /// The latest progress; nil before any data has arrived.
    var latestReading: LoadProgress? { readings.withLock { $0.latest } }

    /// Delivers each reading from now on.
    func listen() {
        let mustPost = readings.withLock { readings in
            readings.isHeard = true
            return readings.takePost()
        }
        if mustPost { post() }
    }

    // MARK: Delivery

    private func deliver(_ reading: LoadProgress) {
        guard !isOver, let state else { return }
        state.note(reading, of: self)
        request.progress?(reading)
    }

    private func deliver(_ delivery: WebImageLoadOperation.Delivery) {
        guard !isOver else { return }
        switch delivery {
        case .interim(let result):
            if !result.isUnwantedPreview(by: request) { deliver(.success(result)) }
        case .last(let result): deliver(result)
        case .nothingMore where hasImage:
            end()
            forgetCallbacks()
        case .nothingMore: finish(.failure(WebImageError(.cacheNotModified, "the load ended without an image")))
        }
    }

    private func deliver(_ result: Result<WebImageResult, WebImageError>) {
        switch result {
        case .success(let loaded):
            let isPreview = loaded.image.metadata.isIncremental
            if loaded.isFinal { end() } else if !isPreview { stopIndicator() }
            defer { forgetCallbacks() }
            guard let state else { return complete(result) }
            if !isPreview {
                hasImage = true
                state.note(.loaded(loaded.kept()), of: self)
            }
            if request.options.contains(.avoidAutoSetImage) { return complete(result) }
            untoldCount += 1
            state.show(loaded, of: self) { [self] in
                untoldCount -= 1
                if !isPreview { complete(result) }
                if untoldCount == 0, let lastWord = lastWord.take() { complete(lastWord) }
                forgetCallbacks()
            }
        case .failure: finish(result)
        }
    }

    private func finish(_ result: Result<WebImageResult, WebImageError>) {
        guard !isOver else { return }
        end()
        // A failed refresh is not a failure if an image has been delivered.
        if case .failure(let error) = result, !hasImage, let state {
            state.note(.failed(error), of: self)
            if error.code == .cancelled {
                state.showCancellation(of: self)
            } else {
                untoldCount += 1
                return state.showFailure(of: self) { [self] in
                    untoldCount -= 1
                    complete(result)
                    forgetCallbacks()
                }
            }
        }
        if untoldCount > 0, !isCancelled {
            lastWord = result
            return
        }
        let completed = request.completed
        // Nothing is reported after this, though a transition to an unreported image may still be running.
        (request.completed, request.progress) = (nil, nil)
        completed?(result)
        forgetCallbacks()
    }

    /// Releases the caller's closures after their final call: the view keeps this load while its image is shown, and the closures may
    /// retain the view.
    private func forgetCallbacks() {
        guard isOver, untoldCount == 0 else { return }
        (request.completed, request.progress) = (nil, nil)
        if request.hasOwnSetter { setter = { _, _ in } }
    }

    private func end() {
        isOver = true
        stopIndicator()
        state?.forget(self)
    }

    private func stopIndicator() {
        guard hasIndicator else { return }
        hasIndicator = false
        state?.stopIndicator()
    }

    private func complete(_ result: Result<WebImageResult, WebImageError>) { request.completed?(result) }
}

extension WebImageResult {
    /// Returns whether it is a preview that the request has no use for: the view already shows an image, or the caller shows the images
    /// itself, also with a setter, and has not requested previews.
    @MainActor
    fileprivate func isUnwantedPreview(by request: ViewLoad.Request) -> Bool {
        guard image.metadata.isIncremental else { return false }
        let isShownByCaller = request.hasOwnSetter || request.options.contains(.avoidAutoSetImage)
        return request.isUpgrade || isShownByCaller && !request.options.contains(.progressiveLoad)
    }
}
