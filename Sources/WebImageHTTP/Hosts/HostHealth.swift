/// The circuit breaker of a host: closed in normal operation, open during back-off, half-open during a probe. A pure value; times
/// are monotonic nanoseconds, downloads are identified by number.
struct HostHealth: Sendable, Equatable {
    enum Circuit: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: UInt64)
        case halfOpen(probe: UInt64)
    }

    /// The admission of a download that would start now.
    enum Admission: Equatable {
        case proceed
        /// It may start, as the probe for the others.
        case probe
        /// Another download is the probe.
        case awaitProbe
        /// The host asked clients to wait; the remaining nanoseconds.
        case asked(UInt64)
        /// The host failed too often; the remaining nanoseconds of the back-off.
        case failing(UInt64)
    }

    /// The age, in nanoseconds, after which failures are forgotten.
    private static let memory: UInt64 = 600_000_000_000
    /// The time, in nanoseconds, after which a probe is no longer waited for: the next download becomes the probe.
    static let probePatience: UInt64 = 120_000_000_000

    private(set) var circuit = Circuit.closed(failures: 0)
    /// The number of times the circuit was opened without a response since.
    private(set) var openings = 0
    /// The end of the time for which the host asked clients to wait; 0 for none.
    private(set) var askedUntil: UInt64 = 0
    /// The number of responses in a row with `Retry-After`.
    private(set) var asks = 0
    /// The time of the last response or failure.
    private(set) var heardAt: UInt64 = 0
    /// The start time of the current probe.
    private var probedAt: UInt64 = 0

    /// Returns whether there is nothing to remember.
    func isWell(at now: UInt64) -> Bool { circuit == .closed(failures: 0) && asks == 0 && now >= askedUntil }

    /// True if `admit` may return anything other than `proceed`.
    var mayBlock: Bool {
        if case .closed = circuit { return askedUntil > 0 }
        return true
    }

    /// Returns whether all remembered events are too old to count.
    func isStale(at now: UInt64) -> Bool {
        guard now >= askedUntil, now > heardAt.adding(clamped: Self.memory) else { return false }
        return switch circuit {
        case .closed: true
        case .open(let until): now >= until
        case .halfOpen: now > probedAt.adding(clamped: Self.memory)
        }
    }

    mutating func admit(_ id: UInt64, at now: UInt64) -> Admission {
        let asked = askedUntil > now ? askedUntil - now : 0
        if asked == 0 { askedUntil = 0 }
        switch circuit {
        case .open(let until) where until > now: return .failing(max(until - now, asked))
        case _ where asked > 0: return .asked(asked)
        case .closed: return .proceed
        case .halfOpen(let probe) where probe != id && now < probedAt.adding(clamped: Self.probePatience):
            return .awaitProbe
        case .open, .halfOpen:
            circuit = .halfOpen(probe: id)
            probedAt = now
            return .probe
        }
    }

    /// Counts a response with `Retry-After`, or one without. Returns true if the wait applies to the whole host.
    mutating func countAsk(_ retryAfter: Double?, _ kind: HostReport.Kind, _ policy: HostBackOffPolicy) -> Bool {
        guard let retryAfter, BackOff.clamp(retryAfter, to: policy.maximumRetryAfter) > 0 else {
            if kind == .answered { asks = 0 }
            return false
        }
        asks += 1
        guard asks >= policy.askThreshold else { return false }
        asks = 0
        return true
    }

    /// Updates the circuit with the outcome of a request.
    ///
    /// - Parameters:
    ///   - id: the download that reports.
    ///   - retryAfter: the time, in seconds, for which the whole host asked clients to wait.
    ///   - random: a value in 0...1, uniformly distributed.
    mutating func note(
        _ kind: HostReport.Kind,
        retryAfter: Double?,
        of id: UInt64,
        policy: HostBackOffPolicy,
        at now: UInt64,
        random: @autoclosure () -> Double
    ) {
        let silence = now > heardAt ? now - heardAt : 0
        // A silent report is not evidence about the host, so it does not refresh the time.
        if kind != .silent { heardAt = max(heardAt, now) }
        let seconds = BackOff.clamp(retryAfter ?? 0, to: BackOff.clamp(policy.maximumRetryAfter, to: .infinity))
        if seconds > 0 { askedUntil = max(askedUntil, now.adding(clamped: TransferTimer.nanoseconds(seconds))) }
        switch (kind, circuit) {
        case (.silent, _): break
        case (.answered, _):
            circuit = .closed(failures: 0)
            openings = 0
        case (.failed, .closed(let failures)):
            guard policy.failureThreshold > 0 else { return }
            let count = silence > Self.memory ? 1 : failures + 1
            circuit = .closed(failures: count)
            if count >= policy.failureThreshold { open(policy, at: now, random: random()) }
        case (.failed, .halfOpen(let probe)):
            if probe == id { open(policy, at: now, random: random()) }
        // The request was sent before the circuit opened, so the failure adds nothing.
        case (.failed, .open): break
        }
    }

    /// Ends a probe if the download with this number is the probe.
    mutating func release(_ id: UInt64) {
        if circuit == .halfOpen(probe: id) { circuit = .open(until: 0) }
    }

    private mutating func open(_ policy: HostBackOffPolicy, at now: UInt64, random: Double) {
        let seconds = policy.delay(afterOpenings: openings, random: random)
        circuit = .open(until: now.adding(clamped: TransferTimer.nanoseconds(seconds)))
        openings = min(openings + 1, 1000)
    }
}
