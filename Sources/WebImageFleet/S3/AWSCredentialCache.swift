import WebImageCache

/// Has credentials ready for requests, and gets new ones before they end.
final class AWSCredentialCache: Sendable {
    typealias Completion = @Sendable (AWSCredentials?) -> Void

    private struct State {
        var schedule = CredentialSchedule()
        var credentials: AWSCredentials?
        var waiting: [Completion] = []
    }

    /// Requests beyond these are refused: they wait for a service that does not answer.
    private static let mostWaiting = 1024

    private let state = Lock(State())
    private let queue = WorkQueue(name: "fleet-aws", width: 1)
    private let clock: ClockSource
    /// Gets credentials; blocks.
    private let get: @Sendable () -> AWSCredentials?

    init(clock: ClockSource = .system, get: @escaping @Sendable () -> AWSCredentials?) {
        (self.clock, self.get) = (clock, get)
    }

    convenience init(_ settings: AWSSettings, clock: ClockSource = .system) {
        let origins = settings.credentialOrigins
        // Made with the first request that is not answered by the environment: it has a thread.
        if case .fixed(let credentials)? = origins.first {
            self.init(clock: clock) { credentials }
        } else {
            let metadata = AWSMetadata()
            self.init(clock: clock) { metadata.credentials(from: origins) }
        }
    }

    /// Calls `completion` with credentials, or nil if there are none: at once on this thread, or after they have been fetched.
    func withCredentials(_ completion: @escaping Completion) {
        let (decision, credentials) = state.withLock { state -> (CredentialSchedule.Decision, AWSCredentials?) in
            var decision = state.schedule.decide(at: now, hasCredentials: state.credentials != nil)
            if decision == .wait || decision == .fetch {
                if state.waiting.count < Self.mostWaiting { state.waiting.append(completion) } else { decision = .fail }
            }
            return (decision, state.credentials)
        }
        switch decision {
        case .use: completion(credentials)
        case .useAndFetch:
            fetch()
            completion(credentials)
        case .fetch: fetch()
        case .wait: break
        case .fail: completion(nil)
        }
    }

    /// Notes that the store does not accept credentials any more.
    func refuse(_ credentials: AWSCredentials) {
        state.withLock { state in
            guard state.credentials == credentials else { return }
            state.credentials = nil
            state.schedule.refused(at: now)
        }
    }

    private func fetch() {
        queue.submit { [self] in
            let credentials = get()
            let waiting = state.withLock { state -> [Completion] in
                state.schedule.fetched(expiry: credentials.map(\.expiry), at: now)
                if let credentials { state.credentials = credentials }
                defer { state.waiting = [] }
                return state.waiting
            }
            for completion in waiting { completion(credentials) }
        }
    }

    private var now: Double { clock.wallTime() }
}

/// When credentials are used, and when they are fetched. A pure value; times are seconds since 1970, because the end of credentials is one.
struct CredentialSchedule: Sendable, Equatable {
    enum Decision: Sendable, Hashable {
        case use
        /// They end soon: they are used, and others fetched meanwhile.
        case useAndFetch
        /// There are none: they are fetched, and waited for.
        case fetch
        /// There are none, and they are being fetched.
        case wait
        /// There are none, and a moment ago there were none either.
        case fail
    }

    /// The time before the end at which others are fetched, and that at which they are not used any more.
    private static let ahead = 300.0
    private static let least = 10.0
    /// The first and the longest time between two attempts that fail.
    private static let firstPause = 1.0
    private static let longestPause = 30.0

    private var expiry = Double.infinity
    private var isFetching = false
    private var nextAttempt = -Double.infinity
    private var pause = firstPause

    /// Decides about a request. After ``Decision/fetch`` and ``Decision/useAndFetch``, ``fetched(expiry:at:)`` must be called.
    mutating func decide(at now: Double, hasCredentials: Bool) -> Decision {
        let left = expiry - now
        if hasCredentials, left > Self.least {
            guard left < Self.ahead, !isFetching, now >= nextAttempt else { return .use }
            isFetching = true
            return .useAndFetch
        }
        if isFetching { return .wait }
        // A clock that was set back must not make the pause longer.
        guard now >= nextAttempt || now < nextAttempt - Self.longestPause else { return .fail }
        isFetching = true
        return .fetch
    }

    /// Notes the end of an attempt.
    ///
    /// - Parameter expiry: nil if it failed; the end of the credentials, which is nil if they do not end.
    mutating func fetched(expiry: Double??, at now: Double) {
        isFetching = false
        guard let expiry else {
            nextAttempt = now + pause
            pause = min(2 * pause, Self.longestPause)
            return
        }
        self.expiry = expiry ?? .infinity
        pause = Self.firstPause
        // A service that hands out the same credentials until they end is not asked with each request.
        nextAttempt = now + Self.firstPause
    }

    /// Notes that the credentials were refused.
    mutating func refused(at now: Double) { expiry = .infinity }
}
