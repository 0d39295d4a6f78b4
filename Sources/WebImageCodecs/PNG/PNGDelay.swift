/// A duration in the form of animated PNG: a fraction of two 16-bit numbers. A pure value.
struct PNGDelay: Sendable, Hashable {
    var numerator: UInt16
    var denominator: UInt16

    /// Creates the nearest fraction, from the continued fraction; at most 65 535 seconds.
    init(_ seconds: Double) {
        let seconds = min(FrameDuration.usable(seconds), 65_535)
        var (before, now) = ((0.0, 1.0), (1.0, 0.0))
        var rest = seconds
        while true {
            let whole = rest.rounded(.down)
            let next = (whole * now.0 + before.0, whole * now.1 + before.1)
            guard next.0 <= 65_535, next.1 <= 65_535 else { break }
            (before, now) = (now, next)
            // Close enough to be exact.
            guard abs(next.0 / next.1 - seconds) > seconds * 1e-9, rest > whole else { break }
            rest = 1 / (rest - whole)
        }
        numerator = UInt16(now.0)
        denominator = UInt16(now.1)
    }
}
