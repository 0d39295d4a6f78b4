/// Keeping what has come of slow bodies: one timer for all downloads, and none while all are quick.
extension DownloaderCore {
    /// How often slow bodies are written, in nanoseconds.
    static let keepingInterval: UInt64 = 500_000_000

    /// Whether the timer runs, and what it must not miss.
    struct Keeping {
        var isTicking = false
        /// Bodies that have begun.
        var bodyCount: UInt64 = 0
    }

    /// Where bodies that broke off are kept; nil when they are not.
    var partials: PartialDownloads? { state.withLock { $0.partials } }

    /// The store that a config asks for.
    ///
    /// - Parameter former: the present one, which stays if its directory does.
    static func partials(
        _ config: WebImageDownloaderConfig,
        former: PartialDownloads?,
        clock: ClockSource
    ) -> PartialDownloads? {
        let config = config.withinPolicy
        guard let directory = config.partialDownloadDirectory, !directory.isEmpty else { return nil }
        let limits = PartialDownloads.Limits(
            byteCount: max(config.maximumPartialByteCount, 0),
            age: config.maximumPartialAge
        )
        if let former, former.directory == CacheDirectory.absolute(directory) {
            former.limits = limits
            return former
        }
        return PartialDownloads(directory: directory, limits: limits, clock: clock)
    }

    /// A body begins that may have to be kept.
    func noteBodyToKeep() {
        let mustBegin = state.withLock { state -> Bool in
            state.keeping.bodyCount &+= 1
            defer { state.keeping.isTicking = true }
            return !state.keeping.isTicking
        }
        if mustBegin { tickLater() }
    }

    private func tickLater() { _ = delays.after(Self.keepingInterval) { [weak self] in self?.tick() } }

    private func tick() {
        let (transfers, count) = state.withLock { state in
            (state.records.values.compactMap { $0.isSent ? $0.transfer : nil }, state.keeping.bodyCount)
        }
        let now = clock.monotonicNanoseconds()
        var isAnyUnderWay = false
        for transfer in transfers where transfer.keepSlowBody(now: now) { isAnyUnderWay = true }
        let goesOn = state.withLock { state -> Bool in
            state.keeping.isTicking = isAnyUnderWay || state.keeping.bodyCount != count
            return state.keeping.isTicking
        }
        if goesOn { tickLater() }
    }
}
