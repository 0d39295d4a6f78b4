/// A task on an image that one worker keeps open, to read parts of it.
package enum RegionTask: Sendable, Equatable {
    /// Opens a file of that many bytes, whose descriptor is sent with the request.
    case open(RegionSetup, byteCount: Int)
    /// Passes more rows.
    case advance
    case read(PixelArea, level: Int)
    /// Decodes the next rows.
    case rows(width: Int, count: Int)

    /// The size in pixels of the image that answers the task; nil if none does.
    var size: (width: Int, height: Int)? {
        switch self {
        case .open, .advance: nil
        case .read(let area, _): (area.width, area.height)
        case .rows(let width, let count): (width, count)
        }
    }

    /// The maximum number of bytes of that image's memory.
    var maximumImageByteCount: Int? {
        // No side is longer than 2^24, so this cannot overflow.
        size.map { ($0.width * 4 + Self.mostPadding) * $0.height + WireLimit.offset }
    }

    private static let mostPadding = 64
    /// No image has more levels.
    private static let mostLevels = 32

    // MARK: Messages

    func write(to writer: inout WireWriter) {
        switch self {
        case .open(let setup, let byteCount):
            writer.write(0)
            writer.write(byteCount)
            setup.write(to: &writer)
        case .advance: writer.write(1)
        case .read(let area, let level):
            writer.write(2)
            for value in [area.left, area.top, area.width, area.height, level] { writer.write(value) }
        case .rows(let width, let count):
            writer.write(3)
            writer.write(width)
            writer.write(count)
        }
    }

    init(from reader: inout WireReader) throws(WireError) {
        switch try reader.int() {
        case 0:
            let byteCount = try reader.int(0...Int.max, "a length")
            self = .open(try RegionSetup(from: &reader), byteCount: byteCount)
        case 1: self = .advance
        case 2:
            let (left, top) = (try reader.side(from: 0), try reader.side(from: 0))
            let (width, height) = (try reader.side(from: 1), try reader.side(from: 1))
            let area = PixelArea(left: left, top: top, width: width, height: height)
            self = .read(area, level: try reader.int(0...Self.mostLevels, "the level"))
        case 3: self = .rows(width: try reader.side(from: 1), count: try reader.side(from: 1))
        case let number: throw WireError("unknown task \(number) for a region")
        }
    }

    /// Serializes an opened image.
    static func write(_ state: RegionState?, to writer: inout WireWriter) {
        writer.write(state) { writer, state in
            writer.write(Int(state.rowFormat.rawValue))
            writer.write(state.readableRows.count)
            for rows in state.readableRows { writer.write(rows) }
        }
    }

    static func readState(from reader: inout WireReader) throws(WireError) -> RegionState? {
        try reader.optional { (reader) throws(WireError) in
            let format = try PixelFormat(from: &reader)
            var rows: [Int] = []
            for _ in 0..<(try reader.int(0...mostLevels, "the number of levels")) {
                rows.append(try reader.side(from: 0))
            }
            return RegionState(rowFormat: format, readableRows: rows)
        }
    }
}

/// The report of a worker about an image that it keeps open.
package struct RegionState: Sendable, Equatable {
    var rowFormat: PixelFormat
    var readableRows: [Int]
}

extension WireReader {
    fileprivate mutating func side(from least: Int) throws(WireError) -> Int {
        try int(least...WireLimit.side, "a side of a region")
    }
}

extension RegionSetup {
    fileprivate func write(to writer: inout WireWriter) {
        for value in [purpose.rawValue, width, height, tileSize, maximumImagePixelCount] { writer.write(value) }
        writer.write(usesOnlyFullSize)
        options.write(to: &writer)
    }

    fileprivate init(from reader: inout WireReader) throws(WireError) {
        guard let purpose = Purpose(rawValue: try reader.int()) else { throw WireError("unknown purpose") }
        self.init(
            purpose,
            width: try reader.int(1...WireLimit.side, "the width"),
            height: try reader.int(1...WireLimit.side, "the height"),
            tileSize: try reader.int(1...WireLimit.side, "the side of a tile"),
            maximumImagePixelCount: try reader.int(),
            usesOnlyFullSize: try reader.bool(),
            options: try ImageDecodeOptions(from: &reader)
        )
    }
}
