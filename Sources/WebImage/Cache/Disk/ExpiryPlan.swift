/// Which entries an expiry pass removes.
struct ExpiryPlan: Sendable {
    /// Entries of this time, in nanoseconds since 1970, and older ones are expired; nil when none is.
    let threshold: Int64?
    /// Bytes; 0 for no limit.
    let maxSize: Int

    /// - Parameters:
    ///   - now: nanoseconds since 1970.
    ///   - maxAge: seconds; negative for never.
    ///   - maxSize: bytes; 0 for no limit.
    init(now: Int64, maxAge: Double, maxSize: Int) {
        self.maxSize = maxSize
        guard maxAge >= 0 else {
            threshold = nil
            return
        }
        let age = Int64(exactly: (maxAge * 1e9).rounded()) ?? .max
        let (difference, overflow) = now.subtractingReportingOverflow(age)
        threshold = overflow ? nil : difference
    }

    /// Older than allowed, or just as old.
    func isExpired(_ time: Int64) -> Bool { threshold.map { time <= $0 } ?? false }

    func exceeds(_ size: Int) -> Bool { maxSize > 0 && size > maxSize }

    /// What the entries' size is brought below when it exceeds the limit.
    ///
    /// - Parameter isWhole: whether it is the size of all of them. When only some have been looked at there may be older ones
    ///   among the others, so no more goes than has to.
    func trimsBelow(isWhole: Bool) -> Int { isWhole ? maxSize / 2 : maxSize + 1 }
}
