import FoundationEssentials
import WebImageCache

/// One load's part in a ``SingleFlight``: runs its actions on a store.
final class RemoteFlight: Sendable {
    /// The next step of the load.
    enum Outcome: Sendable {
        case use(CachedImageData)
        /// The entry must be loaded. With a lease, ``RemoteFlight/finish()`` must be called afterwards.
        case load(withLease: Bool)
    }

    private struct State {
        var machine: SingleFlight
        var found: CachedImageData?
        /// True if something that is not an entry has its name.
        var isForeign = false
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let state: Lock<State>
    private let store: any RemoteStore
    /// The names of the generation in which the load began.
    let names: RemoteNames
    private let name: String
    private let lease: RemoteLease
    private let clock: ClockSource
    private let delays: DelaySource
    /// Checks and parses a value; nil if it is not an entry of the key.
    private let decode: @Sendable (Data) -> CachedImageData?
    private let isWanted: @Sendable () -> Bool
    private let counters: RemoteCounters
    private let deliver: @Sendable (RemoteFlight, Outcome) -> Void
    private let ended: @Sendable (RemoteFlight) -> Void

    /// - Parameters:
    ///   - isWanted: returns false after the load was cancelled; nothing more is done then.
    ///   - deliver: called once, unless the load was cancelled.
    ///   - ended: called when a lease has ended.
    init(
        _ store: any RemoteStore,
        names: RemoteNames,
        key: String,
        rules: SingleFlight.Rules,
        clock: ClockSource,
        delays: DelaySource,
        counters: RemoteCounters,
        decode: @escaping @Sendable (Data) -> CachedImageData?,
        isWanted: @escaping @Sendable () -> Bool,
        deliver: @escaping @Sendable (RemoteFlight, Outcome) -> Void,
        ended: @escaping @Sendable (RemoteFlight) -> Void
    ) {
        self.store = store
        self.names = names
        name = names.entry(forKey: key)
        let number = UInt64.random(in: 0 ... .max)
        let other = UInt64.random(in: 0 ... .max)
        lease = RemoteLease(
            name: names.lease(forKey: key),
            owner: String(number, radix: 36) + "-" + String(other, radix: 36),
            milliseconds: Int(rules.lease / 1_000_000)
        )
        self.clock = clock
        self.delays = delays
        self.counters = counters
        self.decode = decode
        self.isWanted = isWanted
        self.deliver = deliver
        self.ended = ended
        state = Lock(State(machine: SingleFlight(rules: rules, at: clock.monotonicNanoseconds(), deadline: .max)))
    }

    func start() { perform(state.withLock { $0.machine.start() }) }

    /// Releases the lease: the entry is stored, or another machine shall make it.
    func finish() { handle(.finished) }

    /// Releases the lease: no machine will store the entry, and none shall wait for it.
    func decline() { handle(.declined) }

    private func handle(_ event: SingleFlight.Event) {
        let now = clock.monotonicNanoseconds()
        let (action, lostLease) = state.withLock { state in
            let hadLease = state.machine.holdsLease
            let action = state.machine.next(after: event, at: now)
            return (action, hadLease && !state.machine.holdsLease)
        }
        perform(action)
        if lostLease {
            state.withLock { $0.cancelTimer.take() }?()
            ended(self)
        }
    }

    private func perform(_ action: SingleFlight.Action) {
        switch action {
        case .lookUp: lookUp()
        case .acquire:
            guard isWanted() else { return }
            var lease = lease
            if !state.withLock({ $0.isForeign }) { lease.absentEntry = name }
            store.acquire(lease) { self.handle($0.map { $0 ? .granted : .taken } ?? .failed) }
        case .wait(let time): setTimer(time)
        case .useEntry:
            if let found = state.withLock({ $0.found.take() }) { deliver(self, .use(found)) }
        case .load(let renewAfter):
            deliver(self, .load(withLease: renewAfter != nil))
            if let renewAfter { setTimer(renewAfter) }
        case .renew:
            store.renew(lease) { self.handle($0.map { .renewed($0) } ?? .failed) }
        case .release: store.release(lease)
        case .decline: store.decline(lease)
        case .end: break
        }
    }

    private func lookUp() {
        guard isWanted() else { return }
        store.read(name) { result in
            switch result {
            case .value(let value):
                // Damaged, foreign, or of another key with the same hash: it is replaced by the next store.
                let entry = self.decode(value)
                self.state.withLock { ($0.found, $0.isForeign) = (entry, entry == nil) }
                guard entry != nil else { return self.handle(.miss) }
                self.handle(.hit)
            case .absent: self.handle(.miss)
            case .failed:
                self.counters.count { $0.failureCount += 1 }
                self.handle(.failed)
            }
        }
    }

    private func setTimer(_ time: UInt64) {
        let cancel = delays.after(time) { self.handle(.timer) }
        state.withLock { $0.cancelTimer = cancel }
    }
}
