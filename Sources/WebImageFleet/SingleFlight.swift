/// Makes one of several machines that miss the same entry load it, while the others wait for it (single flight): the protocol of one
/// of them. A pure value; times are monotonic nanoseconds.
///
/// The entry is looked up first. On a miss, the machine asks for a lease, which one machine gets. It loads the entry, stores it, and
/// then releases the lease; until then it renews the lease. The others look again in growing intervals and, so that a dead holder is
/// replaced, ask for the lease again. A machine that has waited long enough loads without a lease, and so does one whose engine fails:
/// the lease saves work, and nothing depends on it.
struct SingleFlight: Sendable, Equatable {
    struct Rules: Sendable, Hashable {
        /// The time after which a lease ends that is not renewed, in nanoseconds.
        var lease: UInt64 = 300_000_000
        /// The time after which a lease is not renewed any more: the load has failed or is very slow.
        var longestHold: UInt64 = 10_000_000_000
        /// The first and the longest interval between two looks.
        var firstPoll: UInt64 = 5_000_000
        var longestPoll: UInt64 = 50_000_000

        /// The time that a machine waits for others.
        var patience: UInt64 = 2_000_000_000
        /// The time after which a lease is renewed.
        var renewal: UInt64 { lease / 3 }
    }

    enum Event: Sendable, Hashable {
        /// The entry was found.
        case hit
        /// The entry does not exist.
        case miss
        /// The lease was granted.
        case granted
        /// Another machine has the lease.
        case taken
        /// The engine failed, or did not reply in time.
        case failed
        /// The time that was waited for has come.
        case timer
        /// The lease was renewed, or had been lost.
        case renewed(Bool)
        /// This machine has stored the entry, or leaves it to another.
        case finished
        /// Nothing will be stored, on no machine.
        case declined
    }

    enum Action: Sendable, Hashable {
        /// Look for the entry.
        case lookUp
        /// Ask for the lease.
        case acquire
        /// Send ``Event/timer`` after that many nanoseconds.
        case wait(UInt64)
        /// Use the entry that was found.
        case useEntry
        /// Load the entry.
        ///
        /// - Parameter renewAfter: nanoseconds until ``Event/timer``, to renew the lease; nil without a lease.
        case load(renewAfter: UInt64?)
        /// Renew the lease if this machine still has it.
        case renew
        /// Delete the lease if this machine still has it.
        case release
        /// Let the others load without a lease: nobody will store the entry.
        case decline
        /// Nothing more is to be done.
        case end
    }

    private enum State: Equatable {
        case new
        case lookingUp
        case acquiring
        case waiting
        case holding(since: UInt64)
        case renewing(since: UInt64)
        /// Loads without a lease, or is done.
        case alone
    }

    let rules: Rules
    private var state = State.new
    /// The time until which this machine waits for others.
    private let waitsUntil: UInt64
    private var poll: UInt64

    /// Begins the protocol.
    ///
    /// - Parameter deadline: the time until which the load may wait.
    init(rules: Rules = Rules(), at now: UInt64, deadline: UInt64) {
        self.rules = rules
        waitsUntil = min(now &+ rules.patience, deadline)
        poll = rules.firstPoll
    }

    /// Indicates whether this machine has the lease, as far as it knows.
    var holdsLease: Bool {
        switch state {
        case .holding, .renewing: true
        default: false
        }
    }

    /// Begins with a look for the entry.
    mutating func start() -> Action {
        state = .lookingUp
        return .lookUp
    }

    /// Returns the next step after an event. Events that do not fit the state, for example a timer that comes late, end nothing.
    mutating func next(after event: Event, at now: UInt64) -> Action {
        switch (state, event) {
        case (.lookingUp, .hit):
            state = .alone
            return .useEntry
        case (.lookingUp, .miss):
            guard now < waitsUntil else { return loadAlone() }
            state = .acquiring
            return .acquire
        case (.acquiring, .granted):
            state = .holding(since: now)
            return .load(renewAfter: rules.renewal)
        case (.acquiring, .taken):
            guard now < waitsUntil else { return loadAlone() }
            state = .waiting
            defer { poll = min(2 * poll, rules.longestPoll) }
            return .wait(min(poll, waitsUntil - now))
        case (.waiting, .timer): return start()
        case (.lookingUp, .failed), (.acquiring, .failed): return loadAlone()
        case (.holding(let since), .timer):
            guard now < since &+ rules.longestHold else { return giveUpLease() }
            state = .renewing(since: since)
            return .renew
        case (.renewing(let since), .renewed(true)):
            state = .holding(since: since)
            return .wait(rules.renewal)
        case (.renewing, .renewed(false)), (.renewing, .failed): return giveUpLease()
        case (.holding, .finished), (.renewing, .finished):
            state = .alone
            return .release
        case (.holding, .declined), (.renewing, .declined):
            state = .alone
            return .decline
        default: return .end
        }
    }

    private mutating func loadAlone() -> Action {
        state = .alone
        return .load(renewAfter: nil)
    }

    /// The load goes on; the lease ends by itself.
    private mutating func giveUpLease() -> Action {
        state = .alone
        return .end
    }
}
