import Glibc

/// How fast bytes arrive at present: an average in which what is a second old, or of another age, counts half.
///
/// A pure value; times are monotonic nanoseconds.
struct BandwidthMeter: Sendable {
    /// The age, in seconds, at which bytes count half.
    private let halfLife: Double
    /// Seconds before the first reading: the first packets come in a burst that says nothing.
    private let settling: Double

    private var startedAt: UInt64?
    private var lastAt: UInt64 = 0
    private var lastTotal: Int64 = 0
    /// Bytes, and the seconds over which they came, both less with age.
    private var bytes = 0.0
    private var seconds = 0.0

    init(halfLife: Double = 1, settling: Double = 0.25) {
        self.halfLife = halfLife
        self.settling = settling
    }

    /// `total` bytes have arrived by now. The first call is the start, from which on bytes count.
    mutating func note(total: Int64, at now: UInt64) {
        guard startedAt != nil else {
            (startedAt, lastAt, lastTotal) = (now, now, total)
            return
        }
        advance(to: now)
        if total > lastTotal { bytes += Double(total - lastTotal) }
        lastTotal = total
    }

    /// Bytes per second; nil while there is too little to say.
    func rate(at now: UInt64) -> Double? {
        guard let startedAt, now > startedAt, Double(now - startedAt) / 1e9 >= settling else { return nil }
        var meter = self
        meter.advance(to: now)
        return meter.bytes / meter.seconds
    }

    private mutating func advance(to now: UInt64) {
        guard now > lastAt else { return }
        let weight = exp2(-Double(now - lastAt) / 1e9 / halfLife)
        bytes *= weight
        // The integral of the weights over the time that has passed.
        seconds = seconds * weight + (1 - weight) * halfLife / M_LN2
        lastAt = now
    }
}
