/// Which entries an expiry pass removes.
struct ExpiryPlan: Sendable {
    /// Older than allowed, or just as old.
    let expired: [ScannedEntry]
    /// The others, oldest first when some of them have to go, else in no order.
    let remaining: [ScannedEntry]
    /// Bytes of the others.
    let remainingSize: Int
    /// When the others exceed the size limit: remove the oldest until the sum is below this.
    let trimsBelow: Int?

    /// - Parameters:
    ///   - now: nanoseconds since 1970.
    ///   - maxAge: seconds; negative for never.
    ///   - maxSize: bytes; 0 for no limit.
    init(_ entries: [ScannedEntry], now: Int64, maxAge: Double, maxSize: Int) {
        var expired: [ScannedEntry] = []
        var remaining: [ScannedEntry] = []
        if maxAge >= 0 {
            let age = Int64(exactly: (maxAge * 1e9).rounded()) ?? .max
            let (threshold, overflow) = now.subtractingReportingOverflow(age)
            for entry in entries {
                if !overflow, entry.time <= threshold { expired.append(entry) } else { remaining.append(entry) }
            }
        } else {
            remaining = entries
        }
        let size = remaining.reduce(0) { $0 + $1.allocatedSize }
        let mustTrim = maxSize > 0 && size > maxSize
        if mustTrim { remaining.sort { $0.time < $1.time } }
        self.expired = expired
        self.remaining = remaining
        remainingSize = size
        trimsBelow = mustTrim ? maxSize / 2 : nil
    }
}
