import Glibc

/// Measures the current rate of arriving bytes as a moving average; by default, bytes that are one second old count half.
///
/// A pure value; times are monotonic nanoseconds.
struct BandwidthMeter: Sendable {
    /// The age, in seconds, at which bytes count half.
    private let halfLife: Double
    /// The number of seconds without a reading at the start: the first packets arrive in a burst that says nothing about the rate.
    private let settling: Double

    private var startedAt: UInt64?
    private var lastAt: UInt64 = 0
    private var lastTotal: Int64 = 0
    /// The bytes, and the seconds over which they arrived, both weighted by age.
    private var bytes = 0.0
    private var seconds = 0.0

    init(halfLife: Double = 1, settling: Double = 0.25) {
        self.halfLife = halfLife
        self.settling = settling
    }

    /// Records that `total` bytes have arrived by `now`. The first call sets the baseline; bytes count from there on.
    mutating func note(total: Int64, at now: UInt64) {
        guard startedAt != nil else {
            (startedAt, lastAt, lastTotal) = (now, now, total)
            return
        }
        advance(to: now)
        if total > lastTotal { bytes += Double(total - lastTotal) }
        lastTotal = total
    }

    /// Returns the rate in bytes per second, or nil while there is too little data.
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
        // The integral of the weights over the elapsed time.
        seconds = seconds * weight + (1 - weight) * halfLife / M_LN2
        lastAt = now
    }
}

/// Measures the rate of arriving bytes over all transfers of a downloader: a moving average over the time in which at least one
/// transfer is running. Bytes that are five seconds of such time old count half.
///
/// A pure value; times are monotonic nanoseconds.
struct ThroughputMeter: Sendable {
    /// The minimum total of bytes for a reading.
    static let leastByteCount: Int64 = 64 << 10

    private var meter: BandwidthMeter
    private(set) var isBusy = false
    /// The start of the current busy period, and the busy time before it.
    private var busySince: UInt64 = 0
    private var busyBefore: UInt64 = 0
    private var total: Int64 = 0

    init() {
        meter = BandwidthMeter(halfLife: 5)
        meter.note(total: 0, at: 0)
    }

    /// Records that transfers are running from now on, or that none are.
    mutating func setBusy(_ isBusy: Bool, at now: UInt64) {
        guard isBusy != self.isBusy else { return }
        if isBusy {
            busySince = now
        } else {
            busyBefore = busyTime(at: now)
        }
        self.isBusy = isBusy
    }

    /// Adds `count` bytes that have arrived.
    mutating func add(_ count: Int64, at now: UInt64) {
        total = total.adding(clamped: max(count, 0))
        meter.note(total: total, at: busyTime(at: now))
    }

    /// Returns the rate in bytes per second, or nil while there is too little data.
    func rate(at now: UInt64) -> Double? {
        total >= Self.leastByteCount ? meter.rate(at: busyTime(at: now)) : nil
    }

    /// The total time in which transfers were running.
    private func busyTime(at now: UInt64) -> UInt64 {
        guard isBusy, now > busySince else { return busyBefore }
        return busyBefore.adding(clamped: now - busySince)
    }
}
