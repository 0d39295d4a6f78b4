/// The circuit breaker of one node of a remote cache: closed in normal operation, open while the node is not used, half-open while one
/// request probes it. A pure value; times are monotonic nanoseconds.
///
/// It differs from the breaker of a web server: slow replies count, because a cache that answers late is worse than none, and the
/// delay does not grow, because the cache shall be used soon after it is back.
struct NodeHealth: Sendable, Equatable {
    /// The limits that open the circuit.
    struct Rules: Sendable, Hashable {
        /// The number of failures and late replies in a row.
        var failures = 5
        /// The fraction of late replies within the window.
        var lateFraction = 0.2
        /// The number of replies within the window without which the fraction says nothing.
        var leastReplies = 20
        /// The window for the fraction, in nanoseconds.
        var window: UInt64 = 10_000_000_000
        /// The time for which an open circuit sends nothing, in nanoseconds.
        var pause: UInt64 = 1_000_000_000
        /// The longest random addition to the pause, in nanoseconds: not all machines shall return at the same moment.
        var jitter: UInt64 = 500_000_000
        /// The time after which the outcome of a probe is not waited for any more, in nanoseconds.
        var probePatience: UInt64 = 1_000_000_000
    }

    enum Outcome: Sendable, Hashable {
        case answered
        /// A reply after the deadline, or none until then.
        case late
        /// The connection failed, or the reply was an error of the node.
        case failed
    }

    /// The admission of a request.
    enum Admission: Sendable, Hashable {
        case proceed
        /// The request is sent as a probe; its outcome closes the circuit or opens it again.
        case probe(UInt64)
        case refused
    }

    private enum Circuit: Equatable {
        case closed
        case open(until: UInt64)
        case halfOpen(probe: UInt64, since: UInt64)
    }

    /// The replies in one part of the window.
    private struct Part: Equatable {
        var start: UInt64 = 0
        var replies = 0
        var late = 0
    }

    let rules: Rules
    private var circuit = Circuit.closed
    private var failures = 0
    private var parts = [Part](repeating: Part(), count: 10)
    private var probeCount: UInt64 = 0
    /// The number of times that the circuit has opened.
    private(set) var openings = 0

    init(rules: Rules = Rules()) { self.rules = rules }

    /// True if requests are sent, except during the pause and a probe.
    var isClosed: Bool { circuit == .closed }

    /// Decides whether a request may be sent.
    mutating func admit(at now: UInt64) -> Admission {
        switch circuit {
        case .closed: return .proceed
        case .open(let until) where now < until: return .refused
        case .halfOpen(_, let since) where now < since &+ rules.probePatience: return .refused
        case .open, .halfOpen:
            probeCount += 1
            circuit = .halfOpen(probe: probeCount, since: now)
            return .probe(probeCount)
        }
    }

    /// Counts the outcome of a request that was admitted.
    ///
    /// - Parameter random: a value in 0...1, uniformly distributed.
    mutating func note(_ outcome: Outcome, of admission: Admission, at now: UInt64, random: @autoclosure () -> Double) {
        switch (circuit, admission) {
        case (.halfOpen(let current, _), .probe(let probe)) where current == probe:
            guard outcome == .answered else { return open(at: now, random: random()) }
            self = NodeHealth(rules: rules, openings: openings, probeCount: probeCount)
        case (.closed, .proceed):
            count(outcome, at: now)
            if failures >= rules.failures || isTooLate(at: now) { open(at: now, random: random()) }
        // The request was sent before the circuit opened, or is a probe that was given up.
        default: break
        }
    }

    private init(rules: Rules, openings: Int, probeCount: UInt64) {
        self.rules = rules
        (self.openings, self.probeCount) = (openings, probeCount)
    }

    private mutating func count(_ outcome: Outcome, at now: UInt64) {
        failures = outcome == .answered ? 0 : failures + 1
        let length = max(rules.window / UInt64(parts.count), 1)
        let index = Int(now / length % UInt64(parts.count))
        let start = now / length * length
        if parts[index].start != start { parts[index] = Part(start: start) }
        parts[index].replies += 1
        if outcome == .late { parts[index].late += 1 }
    }

    private func isTooLate(at now: UInt64) -> Bool {
        let recent = parts.filter { $0.start &+ rules.window > now }
        let replies = recent.reduce(0) { $0 + $1.replies }
        let late = recent.reduce(0) { $0 + $1.late }
        return replies >= rules.leastReplies && Double(late) >= rules.lateFraction * Double(replies)
    }

    private mutating func open(at now: UInt64, random: Double) {
        let part = min(max(random, 0), 1)
        let pause = rules.pause &+ UInt64(Double(rules.jitter) * part)
        circuit = .open(until: now &+ pause)
        failures = 0
        parts = [Part](repeating: Part(), count: parts.count)
        openings += 1
    }
}
