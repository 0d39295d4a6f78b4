/// When the decode of a picture must be over. It is made before anything is done with the bytes, because some decoders have done most
/// of their work before the first row comes.
package struct DecodeDeadline: Sendable {
    /// The time that there was, in seconds.
    package let seconds: Double
    /// The end, on the monotonic clock.
    package let nanoseconds: UInt64
    private let clock: ClockSource

    /// Counts from now.
    ///
    /// - Parameter spent: nanoseconds that were used before.
    init(seconds: Double, spent: UInt64 = 0, clock: ClockSource = .system) {
        self.seconds = seconds
        self.clock = clock
        let time = Self.nanoseconds(seconds)
        nanoseconds = clock.monotonicNanoseconds() + (time > spent ? time - spent : 0)
    }

    /// Counts from now; nil where the time is not limited.
    package init?(_ limits: ImageLimits) {
        guard let seconds = limits.maximumDecodeDuration else { return nil }
        self.init(seconds: seconds)
    }

    // Thirty years are as good as for ever, and nothing overflows.
    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64((seconds > 0 ? min(seconds, 1e9) : 0) * 1e9) }

    /// - Throws: ``WebImageError/Code/decodeTimedOut`` once the time is over.
    package func check() throws(WebImageError) {
        guard clock.monotonicNanoseconds() < nanoseconds else { throw error }
    }

    var error: WebImageError { WebImageError(.decodeTimedOut, "the picture was not decoded within \(seconds) s") }
}

/// What the calls that decode a picture while it arrives have taken together, without the time between them.
struct DecodeStopwatch {
    private let seconds: Double
    private let clock: ClockSource
    private var spent: UInt64 = 0

    /// Nil where the time is not limited.
    init?(_ limits: ImageLimits, clock: ClockSource = .system) {
        guard let seconds = limits.maximumDecodeDuration else { return nil }
        self.seconds = seconds
        self.clock = clock
    }

    /// Makes a call that counts.
    ///
    /// - Throws: ``WebImageError/Code/decodeTimedOut`` when no time is left, and what the call throws.
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
