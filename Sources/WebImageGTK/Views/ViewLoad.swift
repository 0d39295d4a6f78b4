import FoundationEssentials
import WebImage

/// One load of a view, from the call to the last delivery.
@MainActor
final class ViewLoad {
    typealias Completion = @MainActor (Result<WebImageResult, WebImageError>) -> Void
    /// Takes a picture, or nil to be cleared, and where it came from.
    typealias Setter = @MainActor (_ content: PaintableContent?, _ result: WebImageResult?) -> Void
    /// Takes a picture, or nil to be cleared, and says where a transition to it is seen; nil when it is not on the screen: then the setter
    /// is to take it.
    typealias TransitionTarget = @MainActor (_ content: PaintableContent?) -> ImagePaintable?

    /// What the caller asked for.
    struct Request {
        var url: URL?
        var placeholder: ViewPlaceholder?
        var options: WebImageOptions
        var context: WebImageContext?
        var progress: (@MainActor (LoadProgress) -> Void)?
        var completed: Completion?
        /// Whether it brings more pixels of what is shown already: silently.
        var isUpgrade = false
        /// Whether the setter is the caller's, and let go of with the other closures.
        var hasOwnSetter = false
    }

    let slot: ImageSlot
    /// Later ones of a slot have higher numbers.
    let number: Int
    private(set) var request: Request
    private(set) var setter: Setter
    /// What it is loaded with.
    let context: WebImageContext
    /// Whether the setter is that of the view's paintable.
    let showsInPaintable: Bool
    var transitionTarget: TransitionTarget?
    private weak var state: ViewState?
    private(set) var operation: WebImageLoadOperation?
    private var isOver = false
    private var isCancelled = false
    private var hasIndicator = false
    /// Whether a picture that was no preview has been delivered.
    private var hasPicture = false
    /// Pictures that are on their way into the view; who waits for them is told then.
    private var untoldCount = 0
    /// The end, if it is to be told after them.
    private var lastWord: Result<WebImageResult, WebImageError>?
    private let readings = Lock(Readings())

    private struct Readings {
        var latest: LoadProgress?
        /// Whether somebody on the main thread wants each of them.
        var isHeard = false
        var isPosted = false

        /// Whether the main thread is to be woken.
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

    /// What closures have captured may be widgets, which go on the main thread alone.
    isolated deinit {}

    /// Begins. What lies in memory is delivered before this returns.
    func start(_ url: URL, manager: WebImageManager) {
        if !request.isUpgrade {
            hasIndicator = true
            state?.startIndicator()
        }
        var context = context
        context.customManager = nil
        // Everything comes through the mailbox, or at once if it is there at once.
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
        // A picture from memory comes before there is an operation; who is told of it may have ended this.
        if isCancelled { operation?.cancel() }
    }

    /// Ends it without having begun.
    func fail(_ error: WebImageError) { finish(.failure(error)) }

    /// Ends it, with ``WebImageError/Code/cancelled`` if it has not ended.
    func cancel() {
        isCancelled = true
        operation?.cancel()
        // What had ended, but was not delivered yet, is not delivered any more.
        finish(.failure(WebImageError(.cancelled, "the view does not wait for the picture any more", url: request.url)))
    }

    // MARK: From any thread

    private nonisolated func receive(_ delivery: WebImageLoadOperation.Delivery) {
        if CallbackQueue.isMainThread {
            MainActor.assumeIsolated { deliver(delivery) }
        } else {
            MainMailbox.shared.post { self.deliver(delivery) }
        }
    }

    private nonisolated func receive(_ reading: LoadProgress) {
        // One item waits, however many readings come; and none when nobody listens.
        let mustPost = readings.withLock { readings in
            readings.latest = reading
            return readings.takePost()
        }
        if mustPost { post() }
    }

    private nonisolated func post() {
        MainMailbox.shared.post { [weak self] in
            let reading = self?.readings.withLock { readings in
                readings.isPosted = false
                return readings.latest
            }
            if let reading { self?.deliver(reading) }
        }
    }

    /// How much has come; nil before anything has.
    var latestReading: LoadProgress? { readings.withLock { $0.latest } }

    /// Somebody wants each reading from now on.
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
        case .interim(let picture): deliver(.success(picture))
        case .last(let result): deliver(result)
        case .nothingMore where hasPicture:
            end()
            forgetCallbacks()
        case .nothingMore: finish(.failure(WebImageError(.cacheNotModified, "the load ended without a picture")))
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
                hasPicture = true
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
        // A picture that could not be refreshed is a picture.
        if case .failure(let error) = result, !hasPicture, let state {
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
        // Nothing is told after that, though a transition may still lead to a picture that nobody was told of.
        (request.completed, request.progress) = (nil, nil)
        completed?(result)
        forgetCallbacks()
    }

    /// Lets go of who was told, after the last time: the view keeps this as long as the picture is shown, and they may keep the view.
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
