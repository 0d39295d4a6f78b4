import FoundationEssentials

/// The delivery of one load's events to its observers: in order, one at a time, with one end event and none after it.
final class LoadObservation: Sendable {
    private struct State {
        var hasStarted = false
        var isOver = false
        /// The time of the last event, in nanoseconds since the load's start.
        var time: UInt64 = 0
    }

    private static let lastID = Counter()

    private let id: UInt64
    private let url: URL?
    private let options: WebImageOptions
    private let observers: [any WebImageLoadObserver]
    private let pipeline: Pipeline
    private let start: UInt64
    private let mailbox = CallbackMailbox(.inline)
    private let state = Lock(State())

    /// Starts observing a load. Must be ended.
    init(
        _ observers: [any WebImageLoadObserver],
        url: URL?,
        options: WebImageOptions,
        pipeline: Pipeline
    ) {
        id = UInt64(bitPattern: Int64(Self.lastID.add()))
        self.url = url
        self.options = options
        self.observers = observers
        self.pipeline = pipeline
        start = pipeline.clock.monotonicNanoseconds()
        pipeline.observationBegan()
    }

    deinit {
        if !state.withLock({ $0.isOver }) { pipeline.observationEnded() }
    }

    /// Enqueues an event with a time of the pipeline's clock for ``deliver()``. Calls no observer, so it may be called under the
    /// lock that orders events.
    func post(_ kind: WebImageLoadEvent.Kind, at time: UInt64) {
        state.withLock { append(kind, at: time, &$0) }
    }

    /// Delivers enqueued events, unless another thread is delivering, which then delivers them, too.
    func deliver() { mailbox.deliver() }

    /// Reports an event that happens now.
    func note(_ kind: WebImageLoadEvent.Kind) {
        post(kind, at: pipeline.clock.monotonicNanoseconds())
        deliver()
    }

    /// Reports that the load has started; only the first call counts.
    func noteStart(cacheKey: String) { note(.started(cacheKey: cacheKey, options: options)) }

    /// Reports the end; only the first call counts.
    func end(_ kind: WebImageLoadEvent.Kind) {
        let time = pipeline.clock.monotonicNanoseconds()
        let isFirst = state.withLock { state -> Bool in
            append(kind, at: time, &state)
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { pipeline.observationEnded() }
        deliver()
    }

    /// Reports the end with the load's result.
    func end(_ result: Result<WebImageResult, WebImageError>) {
        switch result {
        case .success(let result): end(.delivered(result.cacheType))
        case .failure(let error): end(error.code == .cancelled ? .cancelled : .failed(error))
        }
    }

    private func append(_ kind: WebImageLoadEvent.Kind, at time: UInt64, _ state: inout State) {
        guard !state.isOver else { return }
        if case .started = kind {
            guard !state.hasStarted else { return }
            state.hasStarted = true
        } else if !state.hasStarted {
            // A load can end before it is resolved, or join shared work whose events come first.
            append(.started(cacheKey: "", options: options), at: time, &state)
        }
        // Several threads report events of shared work: times never decrease.
        state.time = max(state.time, time > start ? time - start : 0)
        let event = WebImageLoadEvent(loadID: id, url: url, time: state.time, kind: kind)
        mailbox.append { [observers] in
            for observer in observers { observer.loadDid(event) }
        }
    }
}

extension LoadObservation {
    /// Creates the observation of a load; nil if it has no observers.
    convenience init?(_ load: ResolvedLoad, url: URL?, pipeline: Pipeline) {
        let observers = load.observers
        guard !observers.isEmpty else { return nil }
        self.init(observers, url: url, options: load.options, pipeline: pipeline)
    }
}

extension ResolvedLoad {
    /// True if the load has an observer.
    var isObserved: Bool { parts?.values.observer != nil || context.rare?.values.observer != nil }

    /// The manager's observer and the context's, without duplicates.
    fileprivate var observers: [any WebImageLoadObserver] {
        let own = context.rare?.values.observer
        guard let first = parts?.values.observer else { return own.map { [$0] } ?? [] }
        guard let own, own !== first else { return [first] }
        return [first, own]
    }
}
