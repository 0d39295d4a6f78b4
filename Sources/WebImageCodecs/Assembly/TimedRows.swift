import FoundationEssentials

/// The rows of another source, until a deadline.
final class TimedRows: ScanlineSource {
    /// The number of rows that are read between two checks of the deadline.
    private static let step = 16

    private let source: any ScanlineSource
    private let deadline: DecodeDeadline

    /// Returns the source itself if its time is not limited.
    static func limiting(_ source: any ScanlineSource, by limits: ImageLimits) -> any ScanlineSource {
        limiting(source, to: source is TimedRows ? nil : DecodeDeadline(limits))
    }

    /// Returns the source itself without a deadline.
    static func limiting(_ source: any ScanlineSource, to deadline: DecodeDeadline?) -> any ScanlineSource {
        deadline.map { TimedRows(source, until: $0) } ?? source
    }

    init(_ source: any ScanlineSource, until deadline: DecodeDeadline) {
        self.source = source
        self.deadline = deadline
    }

    var width: Int { source.width }
    var height: Int { source.height }
    var extent: (width: Double, height: Double) { source.extent }
    var layout: ScanlineLayout { source.layout }
    var colorProfile: Data? { source.colorProfile }
    var color: SourceColor? { source.color }

    var decodedPixelCount: Int { source.decodedPixelCount }
    var isRandomAccess: Bool { source.isRandomAccess }
    func source(from row: Int) throws(WebImageError) -> any ScanlineSource {
        TimedRows(try source.source(from: row), until: deadline)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        var row = 0
        while row < count {
            try deadline.check()
            let rows = min(Self.step, count - row)
            try source.readRows(rows, into: base + row * bytesPerRow, bytesPerRow: bytesPerRow)
            row += rows
        }
    }
}
