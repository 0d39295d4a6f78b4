import Glibc

/// The places in the data of an image with restart markers from which decoding can begin: the rows of blocks after them need nothing before them.
struct JPEGRestarts {
    /// The number of rows of pixels from one place to the next.
    let rowCount: Int
    /// The number of rows of pixels of a row of blocks.
    let blockRowCount: Int
    /// The offsets of the data, the first one that of the scan.
    private let offsets: [Int]

    /// Searches for the markers; nil if decoding can begin at less than four places, or a marker is missing or damaged. Cost: passes through the data, in
    /// about a hundredth of the time of a decode.
    init?(_ header: JPEGHeader, _ bytes: UnsafeRawBufferPointer) {
        guard let grid = Grid(header) else { return nil }
        (rowCount, blockRowCount) = (grid.rowsPerPlace * grid.blockHeight, grid.blockHeight)
        guard let offsets = Self.offsets(grid, header.scanStart, bytes), offsets.count > 1 else { return nil }
        self.offsets = offsets
    }

    /// Returns the last place from which the decoder has all that row `row` of pixels depends on, and the first row from there on.
    func place(before row: Int) -> (offset: Int, row: Int) {
        // The upsampling of colours mixes neighbouring rows of blocks.
        let needed = max(row / blockRowCount - 1, 0) * blockRowCount
        let index = min(needed / rowCount, offsets.count - 1)
        return (offsets[index], index * rowCount)
    }

    /// Returns whether an image may have such places, without a search.
    static func canHavePlaces(_ header: JPEGHeader) -> Bool { Grid(header) != nil }

    /// The blocks and intervals by the header.
    private struct Grid {
        let blockHeight: Int
        let rowsPerPlace: Int
        let intervalsPerPlace: Int
        let intervalCount: Int

        init?(_ header: JPEGHeader) {
            let (frame, interval) = (header.frame, header.restartInterval)
            let isOneBlock = frame.sampling.count == 1
            let isKnown = !isOneBlock || frame.sampling.allSatisfy { $0 == (1, 1) }
            guard interval > 0, isKnown, !header.hasScans, !frame.isArithmetic else { return nil }
            let blockWidth = 8 * (frame.sampling.map(\.horizontal).max() ?? 1)
            blockHeight = 8 * (frame.sampling.map(\.vertical).max() ?? 1)
            let columns = (frame.width + blockWidth - 1) / blockWidth
            let rows = (frame.height + blockHeight - 1) / blockHeight
            intervalCount = (columns * rows + interval - 1) / interval
            // Markers are numbered from 0 to 7, and the decoder expects 0 first.
            var perPlace = 8
            while perPlace * interval % columns != 0 {
                perPlace += 8
                guard perPlace < intervalCount else { return nil }
            }
            intervalsPerPlace = perPlace
            rowsPerPlace = perPlace * interval / columns
            // A band is decoded from the last place before it, so few places mean that many rows are decoded twice.
            guard rowsPerPlace * 4 <= rows else { return nil }
        }
    }

    private static func offsets(_ grid: Grid, _ start: Int, _ bytes: UnsafeRawBufferPointer) -> [Int]? {
        guard let base = bytes.baseAddress else { return nil }
        var offsets = [start]
        var position = start
        var count = 0
        while position < bytes.count, let found = memchr(base + position, 0xFF, bytes.count - position) {
            position = UnsafeRawPointer(found) - base + 1
            guard position < bytes.count else { return nil }
            switch bytes[position] {
            case 0x00: position += 1
            case 0xFF: break
            case let marker where marker == 0xD0 + UInt8(count % 8):
                position += 1
                count += 1
                if count % grid.intervalsPerPlace == 0 { offsets.append(position) }
            case 0xD9: return count == grid.intervalCount - 1 ? offsets : nil
            default: return nil
            }
        }
        return nil
    }
}
