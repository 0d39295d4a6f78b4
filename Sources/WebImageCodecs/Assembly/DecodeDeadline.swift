/// The time by which the decode of an image must end. Create it before using the bytes: some decoders do most of their work before the first row.
package struct DecodeDeadline: Sendable {
    /// The time limit in seconds.
    package let seconds: Double
    /// The end on the monotonic clock.
    package let nanoseconds: UInt64
    private let clock: ClockSource

    /// Creates a deadline that counts from now.
    ///
    /// - Parameter spent: nanoseconds that were used before.
    init(seconds: Double, spent: UInt64 = 0, clock: ClockSource = .system) {
        self.seconds = seconds
        self.clock = clock
        let time = Self.nanoseconds(seconds)
        nanoseconds = clock.monotonicNanoseconds() + (time > spent ? time - spent : 0)
    }

    /// Creates a deadline that counts from now; nil if the limits have no maximum duration.
    package init?(_ limits: ImageLimits) {
        guard let seconds = limits.maximumDecodeDuration else { return nil }
        self.init(seconds: seconds)
    }

    // Capped at about thirty years, which is as good as unlimited and does not overflow.
    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64((seconds > 0 ? min(seconds, 1e9) : 0) * 1e9) }

    /// - Throws: ``WebImageError/Code/decodeTimedOut`` after the deadline.
    package func check() throws(WebImageError) {
        guard clock.monotonicNanoseconds() < nanoseconds else { throw error }
    }

    var error: WebImageError { WebImageError(.decodeTimedOut, "the image was not decoded within \(seconds) s") }
}

/// The total time that the calls of an incremental decode have taken, without the time between them.
struct DecodeStopwatch {
    private let seconds: Double
    private let clock: ClockSource
    private var spent: UInt64 = 0

    /// Creates a stopwatch; nil if the limits have no maximum duration.
    init?(_ limits: ImageLimits, clock: ClockSource = .system) {
        guard let seconds = limits.maximumDecodeDuration else { return nil }
        self.seconds = seconds
        self.clock = clock
    }

    /// Makes a call whose time is counted.
    ///
    /// - Throws: ``WebImageError/Code/decodeTimedOut`` when no time is left, and the errors of the call.
    mutating func measure<Value>(
        _ body: (DecodeDeadline) throws(WebImageError) -> Value
    ) throws(WebImageError) -> Value {
        let start = clock.monotonicNanoseconds()
        let deadline = DecodeDeadline(seconds: seconds, spent: spent, clock: clock)
        try deadline.check()
        defer { spent += max(clock.monotonicNanoseconds(), start) - start }
        return try body(deadline)
    }
}
