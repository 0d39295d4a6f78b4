/// A duration as animated PNG has it: a fraction of two 16-bit numbers. Pure.
struct PNGDelay: Sendable, Hashable {
    var numerator: UInt16
    var denominator: UInt16

    /// The nearest fraction, by its continued fraction; 65 535 seconds for more.
    init(_ seconds: Double) {
        let seconds = min(FrameDuration.usable(seconds), 65_535)
        var (before, now) = ((0.0, 1.0), (1.0, 0.0))
        var rest = seconds
        while true {
            let whole = rest.rounded(.down)
            let next = (whole * now.0 + before.0, whole * now.1 + before.1)
            guard next.0 <= 65_535, next.1 <= 65_535 else { break }
            (before, now) = (now, next)
            // Near enough to be what was meant.
            guard abs(next.0 / next.1 - seconds) > seconds * 1e-9, rest > whole else { break }
            rest = 1 / (rest - whole)
        }
        numerator = UInt16(now.0)
        denominator = UInt16(now.1)
    }
}
