/// Whether a host is fit to be asked: closed while all is well, open while it is left alone, half-open while one download
/// finds out. A pure value; times are monotonic nanoseconds, downloads have numbers.
struct HostHealth: Sendable, Equatable {
    enum Circuit: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: UInt64)
        case halfOpen(probe: UInt64)
    }

    /// What a download may do that would start now.
    enum Admission: Equatable {
        case proceed
        /// It may, and finds out for the others.
        case probe
        /// Another finds out.
        case awaitProbe
        /// The host asked to be left alone for so many more nanoseconds.
        case asked(UInt64)
        /// It failed too often, and is left alone for so many more nanoseconds.
        case failing(UInt64)
    }

    /// Failures that are older than this many nanoseconds are forgotten.
    private static let memory: UInt64 = 600_000_000_000
    /// One that finds out for longer than this many nanoseconds is not waited for any more: the next finds out, too.
    static let probePatience: UInt64 = 120_000_000_000

    private(set) var circuit = Circuit.closed(failures: 0)
    /// How often it was opened without an answer since.
    private(set) var openings = 0
    /// Until when the host asked to be left alone; 0 for never.
    private(set) var askedUntil: UInt64 = 0
    /// Answers in a row that asked for a time.
    private(set) var asks = 0
    /// When it last answered or failed.
    private(set) var heardAt: UInt64 = 0
    /// When the one that finds out began to.
    private var probedAt: UInt64 = 0

    /// Whether there is nothing to remember.
    func isWell(at now: UInt64) -> Bool { circuit == .closed(failures: 0) && asks == 0 && now >= askedUntil }

    /// Whether a download may have to be told anything but to proceed.
    var mayBlock: Bool {
        if case .closed = circuit { return askedUntil > 0 }
        return true
    }

    /// Whether what there is to remember is so old that it does not count any more.
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

    /// Counts an answer that asks to be left alone, or one that does not. True when it speaks for the whole host.
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

    /// - Parameters:
    ///   - id: the download that tells.
    ///   - retryAfter: for how long the whole host is to be left alone.
    ///   - random: 0...1, evenly spread.
    mutating func note(
        _ kind: HostReport.Kind,
        retryAfter: Double?,
        of id: UInt64,
        policy: HostBackOffPolicy,
        at now: UInt64,
        random: @autoclosure () -> Double
    ) {
        let silence = now > heardAt ? now - heardAt : 0
        // Who tells nothing does not keep young what others told.
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
        // Sent before it was opened: nothing new.
        case (.failed, .open): break
        }
    }

    /// The download with that number tells nothing any more.
    mutating func release(_ id: UInt64) {
        if circuit == .halfOpen(probe: id) { circuit = .open(until: 0) }
    }

    private mutating func open(_ policy: HostBackOffPolicy, at now: UInt64, random: Double) {
        let seconds = policy.delay(afterOpenings: openings, random: random)
        circuit = .open(until: now.adding(clamped: TransferTimer.nanoseconds(seconds)))
        openings = min(openings + 1, 1000)
    }
}
