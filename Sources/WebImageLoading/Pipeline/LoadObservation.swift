import FoundationEssentials

/// The events of one load on their way to its observers: in order, one at a time, with one end and nothing after it.
final class LoadObservation: Sendable {
    private struct State {
        var hasStarted = false
        var isOver = false
        /// Of the last event, in nanoseconds since the load's start.
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

    /// Begins to observe a load; it must be ended.
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

    /// Leaves an event that happened at a time of the pipeline's clock; ``deliver()`` brings it. Calls nobody, so it may be done
    /// with a lock held that events are to be ordered by.
    func post(_ kind: WebImageLoadEvent.Kind, at time: UInt64) {
        state.withLock { append(kind, at: time, &$0) }
    }

    /// Brings what was left, unless another thread is at it, which then does.
    func deliver() { mailbox.deliver() }

    /// Tells of something that happens now.
    func note(_ kind: WebImageLoadEvent.Kind) {
        post(kind, at: pipeline.clock.monotonicNanoseconds())
        deliver()
    }

    /// Tells that the load has begun, the first time.
    func noteStart(cacheKey: String) { note(.started(cacheKey: cacheKey, options: options)) }

    /// Tells of the end, the first time.
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

    /// Tells of the end by what the load ended with.
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
            // A load can end before anything was known of it, or hear first of what others did.
            append(.started(cacheKey: "", options: options), at: time, &state)
        }
        // Work that several threads do: what is told later has not happened earlier.
        state.time = max(state.time, time > start ? time - start : 0)
        let event = WebImageLoadEvent(loadID: id, url: url, time: state.time, kind: kind)
        mailbox.append { [observers] in
            for observer in observers { observer.loadDid(event) }
        }
    }
}

extension LoadObservation {
    /// The observation of a load; nil when nobody observes it.
    convenience init?(_ load: ResolvedLoad, url: URL?, pipeline: Pipeline) {
        let observers = load.observers
        guard !observers.isEmpty else { return nil }
        self.init(observers, url: url, options: load.options, pipeline: pipeline)
    }
}

extension ResolvedLoad {
    /// Whether anybody observes the load.
    var isObserved: Bool { parts?.values.observer != nil || context?.rare?.values.observer != nil }

    /// The manager's observer and the context's, if those are two.
    fileprivate var observers: [any WebImageLoadObserver] {
        let own = context?.rare?.values.observer
        guard let first = parts?.values.observer else { return own.map { [$0] } ?? [] }
        guard let own, own !== first else { return [first] }
        return [first, own]
    }
}
