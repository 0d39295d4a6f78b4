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

/// How fast bytes arrive over all transfers of a downloader: an average over the time in which something is under way, in
/// which what is five seconds of such time old counts half.
///
/// A pure value; times are monotonic nanoseconds.
struct LineMeter: Sendable {
    /// Fewer bytes, all together, say nothing about the line.
    static let leastByteCount: Int64 = 64 << 10

    private var meter: BandwidthMeter
    private(set) var isBusy = false
    /// When the present time of work began, and how much there was before.
    private var busySince: UInt64 = 0
    private var busyBefore: UInt64 = 0
    private var total: Int64 = 0

    init() {
        meter = BandwidthMeter(halfLife: 5)
        meter.note(total: 0, at: 0)
    }

    /// Something is under way from now on, or nothing.
    mutating func setBusy(_ isBusy: Bool, at now: UInt64) {
        guard isBusy != self.isBusy else { return }
        if isBusy {
            busySince = now
        } else {
            busyBefore = busyTime(at: now)
        }
        self.isBusy = isBusy
    }

    /// So many more bytes have come.
    mutating func add(_ count: Int64, at now: UInt64) {
        total = total.adding(clamped: max(count, 0))
        meter.note(total: total, at: busyTime(at: now))
    }

    /// Bytes per second; nil while there is too little to say.
    func rate(at now: UInt64) -> Double? {
        total >= Self.leastByteCount ? meter.rate(at: busyTime(at: now)) : nil
    }

    /// How long something was under way.
    private func busyTime(at now: UInt64) -> UInt64 {
        guard isBusy, now > busySince else { return busyBefore }
        return busyBefore.adding(clamped: now - busySince)
    }
}
