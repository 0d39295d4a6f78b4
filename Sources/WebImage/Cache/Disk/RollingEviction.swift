/// Keeps a directory below a size while it is written to: a few of the oldest entries go with each store that exceeds it.
///
/// What it knows of the directory is derived: a total counted once and carried on, and a list of the oldest entries, both
/// taken anew every eighth of the limit (every quarter, while the directory is less than half full). So other processes'
/// writes are noticed, and no store pays for a mass deletion.
struct RollingEviction: Sendable {
    /// What is to be done now.
    enum Step: Sendable {
        case nothing
        /// Walk through the directory and ``install(_:limit:)`` what was found.
        case scan
        /// Remove these if they are still as old, and report the bytes to ``didFree(_:)``.
        case evict([ScannedEntry])
    }

    /// Bytes in the directory as far as known; nil before the first scan.
    private(set) var total: Int?
    /// Oldest last.
    private var candidates: [ScannedEntry] = []
    private var writtenSinceScan = 0
    private var isScanning = false
    /// Written while a scan goes on, which may have missed it.
    private var writtenDuringScan = 0
    private static let batch = 16

    mutating func didStore(_ size: Int, replacing old: Int) {
        if let total { self.total = max(total + size - old, 0) }
        writtenSinceScan += size
        if isScanning { writtenDuringScan += max(size - old, 0) }
    }

    mutating func didFree(_ size: Int) {
        if let total { self.total = max(total - size, 0) }
    }

    /// Asks for the next step; after `.scan` nobody else is told to scan until ``install(_:limit:)``.
    mutating func next(limit: Int) -> Step {
        guard limit > 0, !isScanning else { return .nothing }
        guard let total, writtenSinceScan <= max(total <= limit / 2 ? limit / 4 : limit / 8, 1) else {
            return startScan()
        }
        guard total > limit else { return .nothing }
        var excess = total - limit
        var victims: [ScannedEntry] = []
        while excess > 0, victims.count < Self.batch, let oldest = candidates.popLast() {
            victims.append(oldest)
            excess -= oldest.allocatedSize
        }
        return victims.isEmpty ? startScan() : .evict(victims)
    }

    private mutating func startScan() -> Step {
        isScanning = true
        writtenDuringScan = 0
        return .scan
    }

    /// Takes what a scan found, nil when it failed.
    mutating func install(_ entries: [ScannedEntry]?, limit: Int) {
        guard let entries else {
            isScanning = false
            return
        }
        // What was written meanwhile may be counted twice now, which the next scan sets right; not at all would be worse.
        let total = entries.reduce(writtenDuringScan) { $0 + $1.allocatedSize }
        self.total = total
        writtenSinceScan = writtenDuringScan
        isScanning = false
        candidates = []
        guard total > limit - limit / 8 else { return }
        var wanted = max(total - limit, 0) + max(limit / 8, 1)
        for entry in entries.sorted(by: { $0.time < $1.time }) {
            guard wanted > 0 else { break }
            candidates.append(entry)
            wanted -= entry.allocatedSize
        }
        candidates.reverse()
    }

    /// Forgets what is known, for example because everything was removed.
    mutating func reset() {
        total = nil
        candidates = []
        writtenSinceScan = 0
    }
}
