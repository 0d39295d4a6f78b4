/// Keeps the received bytes of slow bodies: one timer for all downloads, and none while all are fast.
extension DownloaderCore {
    /// The interval between writes of slow bodies, in nanoseconds.
    static let keepingInterval: UInt64 = 500_000_000

    /// The store of interrupted bodies; nil if they are not kept.
    var partials: (any PartialBodyStore)? { state.withLock { $0.partials } }

    /// Sets the timer when a body that may have to be kept begins or continues.
    func noteBodyToKeep() {
        let isSet = state.withLock { state -> Bool in
            defer { state.looksAtSlowBodies = true }
            return state.looksAtSlowBodies
        }
        guard !isSet else { return }
        _ = delays.after(Self.keepingInterval) { [weak self] in self?.keepSlowBodies() }
    }

    private func keepSlowBodies() {
        let transfers = state.withLock { state in
            state.looksAtSlowBodies = false
            return state.records.values.compactMap(\.transfer)
        }
        let now = clock.monotonicNanoseconds()
        for transfer in transfers where transfer.keepSlowBody(now: now) { noteBodyToKeep() }
    }
}
