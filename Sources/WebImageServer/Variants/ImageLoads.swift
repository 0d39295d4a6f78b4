import FoundationEssentials
import WebImage

/// The loads of requests that wait: admits them, limits those of each host, and ends them in time.
final class ImageLoads: Sendable {
    /// The outcome of a request.
    enum Outcome: Sendable {
        case image(EncodedImage)
        case failure(WebImageError)
        /// The image was not there in time.
        case expired
        /// The client has left, or the server ends.
        case cancelled
    }

    struct Request: Sendable {
        var client: String
        var host: String
        var key: String
        var start:
            @Sendable (@escaping @Sendable (Result<EncodedImage, WebImageError>) -> Void) -> any WebImageOperation
    }

    private struct State {
        var admission: Admission
        var hosts: HostQueues
        var loads: [UInt64: ImageLoad] = [:]
        var lastNumber: UInt64 = 0
        /// The number of admitted requests that have neither begun nor been put into the queue of their host.
        var arrivingCount = 0
    }

    private let state: ConditionLock<State>
    private let timeout: Double
    private let clock: ClockSource
    private let delays: DelaySource
    private let jobCount: @Sendable () -> Int

    /// - Parameter jobCount: Returns the number of decodes and encodes that wait for a processor.
    init(
        _ admission: Admission,
        perHost: Int,
        clock: ClockSource = .system,
        delays: DelaySource = .system,
        jobCount: @escaping @Sendable () -> Int
    ) {
        state = ConditionLock(State(admission: admission, hosts: HostQueues(limit: perHost)))
        timeout = admission.timeout
        self.clock = clock
        self.delays = delays
        self.jobCount = jobCount
    }

    private var now: Double { Double(clock.monotonicNanoseconds()) / 1e9 }

    /// The number of requests that wait.
    var count: Int { state.withLock { $0.admission.count } }

    /// True if requests wait that should have been answered: the server hangs.
    var isOverdue: Bool {
        let limit = now - timeout - 2
        return state.withLock { $0.loads.values.contains { $0.startTime < limit } }
    }

    /// Blocks until the number of waiting requests is as wanted, and all of them have begun or are in a queue; false after so many seconds.
    func wait(seconds: Double, until condition: (Int) -> Bool) -> Bool {
        state.wait(seconds: seconds) { $0.arrivingCount == 0 && condition($0.admission.count) ? true : nil } ?? false
    }

    /// Admits a request or refuses it. An admitted one must be started.
    ///
    /// - Parameters:
    ///   - host: The host of the source.
    ///   - key: The key of the image.
    func admit(_ client: String, host: String, key: String) -> Admission.Decision {
        let jobCount = jobCount()
        return state.withLock { state in
            let hostWait = state.hosts.wait(host: host, key: key)
            let decision = state.admission.enter(client, jobCount: jobCount, hostWait: hostWait)
            if case .admitted = decision { state.arrivingCount += 1 }
            return decision
        }
    }

    /// Starts the load of an admitted request. The completion is called once.
    func start(_ request: Request, completion: @escaping @Sendable (Outcome) -> Void) -> any WebImageOperation {
        let (load, starts) = state.withLock { state -> (ImageLoad, Bool) in
            state.lastNumber += 1
            let load = ImageLoad(state.lastNumber, request, startTime: now, owner: self, completion)
            state.loads[load.number] = load
            return (load, state.hosts.enter(load.number, host: request.host, key: request.key))
        }
        load.setTimer(delays.after(UInt64(max(timeout, 0.001) * 1e9)) { load.end(.expired) })
        if starts { load.begin() }
        state.withLock { $0.arrivingCount -= 1 }
        state.broadcast()
        return load
    }

    /// Ends a load that has an outcome.
    fileprivate func leave(_ load: ImageLoad, wasRunning: Bool, isMade: Bool) {
        let (request, now) = (load.request, now)
        let jobCount = isMade ? jobCount() : 0
        let started = state.withLock { state -> [ImageLoad] in
            state.loads[load.number] = nil
            state.admission.leave(request.client)
            if isMade { state.admission.noteMade(jobCount: jobCount, now: now) }
            return state.hosts.leave(load.number, host: request.host, key: request.key, isRunning: wasRunning, now: now)
                .compactMap { state.loads[$0] }
        }
        state.broadcast()
        for load in started { load.begin() }
    }
}

/// The load of one request.
private final class ImageLoad: WebImageOperation {
    private struct State {
        var completion: (@Sendable (ImageLoads.Outcome) -> Void)?
        var operation: (any WebImageOperation)?
        var cancelTimer: (@Sendable () -> Void)?
        var isRunning = false
        var isCancelled = false
    }

    let number: UInt64
    let request: ImageLoads.Request
    let startTime: Double
    private let owner: ImageLoads
    private let state: Lock<State>

    init(
        _ number: UInt64,
        _ request: ImageLoads.Request,
        startTime: Double,
        owner: ImageLoads,
        _ completion: @escaping @Sendable (ImageLoads.Outcome) -> Void
    ) {
        (self.number, self.request, self.startTime, self.owner) = (number, request, startTime, owner)
        state = Lock(State(completion: completion))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        end(.cancelled)
    }

    func setTimer(_ cancel: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state -> Bool in
            guard state.completion != nil else { return true }
            state.cancelTimer = cancel
            return false
        }
        if isOver { cancel() }
    }

    /// Starts the load when its host has room.
    func begin() {
        let isOver = state.withLock { state -> Bool in
            state.isRunning = true
            return state.completion == nil
        }
        guard !isOver else { return owner.leaveHost(self) }
        let operation = request.start { [self] result in
            switch result {
            case .success(let image): end(.image(image))
            case .failure(let error): end(.failure(error))
            }
        }
        let isEnded = state.withLock { state -> Bool in
            guard state.completion != nil else { return true }
            state.operation = operation
            return false
        }
        if isEnded { operation.cancel() }
    }

    /// Ends the request; only the first call counts. Work that others share goes on.
    func end(_ outcome: ImageLoads.Outcome) {
        let ending = state.withLock { state -> State in
            defer { (state.completion, state.operation, state.cancelTimer) = (nil, nil, nil) }
            return state
        }
        guard let completion = ending.completion else { return }
        ending.cancelTimer?()
        ending.operation?.cancel()
        var isMade = false
        if case .image(let image) = outcome { isMade = image.source == .none }
        owner.leave(self, wasRunning: ending.isRunning, isMade: isMade)
        completion(outcome)
    }
}

extension ImageLoads {
    /// Gives back the place of a load that ended before it could begin.
    fileprivate func leaveHost(_ load: ImageLoad) {
        let (request, now) = (load.request, now)
        let started = state.withLock { state in
            state.hosts.leave(load.number, host: request.host, key: request.key, isRunning: true, now: now)
                .compactMap { state.loads[$0] }
        }
        for load in started { load.begin() }
    }
}
