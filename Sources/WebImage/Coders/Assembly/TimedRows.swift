import FoundationEssentials

/// The rows of another source, as long as there is time for them.
final class TimedRows: ScanlineSource {
    /// Rows that are read between two looks at the clock.
    private static let step = 16

    private let source: any ScanlineSource
    private let seconds: Double
    private let deadline: UInt64
    private let clock: ClockSource

    /// The source itself where its time is not limited.
    static func limiting(_ source: any ScanlineSource, by limits: ImageLimits) -> any ScanlineSource {
        guard let seconds = limits.maximumDecodeDuration, !(source is TimedRows) else { return source }
        return TimedRows(source, seconds: seconds)
    }

    init(_ source: any ScanlineSource, seconds: Double, clock: ClockSource = .system) {
        self.source = source
        self.seconds = seconds
        self.clock = clock
        // Thirty years are as good as for ever, and nothing overflows.
        deadline = clock.monotonicNanoseconds() + UInt64((seconds > 0 ? min(seconds, 1e9) : 0) * 1e9)
    }

    var width: Int { source.width }
    var height: Int { source.height }
    var extent: (width: Double, height: Double) { source.extent }
    var layout: ScanlineLayout { source.layout }
    var colorProfile: Data? { source.colorProfile }
    var color: SourceColor? { source.color }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        var row = 0
        while row < count {
            guard clock.monotonicNanoseconds() < deadline else {
                throw WebImageError(.decodeTimedOut, "the picture was not decoded within \(seconds) s")
            }
            let rows = min(Self.step, count - row)
            try source.readRows(rows, into: base + row * bytesPerRow, bytesPerRow: bytesPerRow)
            row += rows
        }
    }
}
