import BenchSupport
import WebImage

/// What it costs to read regions of a file.
///
/// `region-bench FILE`: opens it; reads the smallest level that is larger than a tile, as a viewer does first; then random regions of
/// 512 × 512 pixels of the full image one after the other, and random tiles of each level. The time and processor time of the first image, the mean processor time of a
/// region, the 95th percentile of the time of a tile at the slowest level, and the peak of memory.
@main struct RegionBench {
    static let regionCount = 200
    static let tilesPerLevel = 60

    static func main() async throws {
        guard CommandLine.arguments.count == 2 else { Measurement.stop("usage: region-bench FILE") }
        var random = SystemRandomNumberGenerator()
        let (start, startTime) = (Measurement.now(), Measurement.processorTime())
        let reader = try await ImageCodersManager.shared.regionReader(forFileAt: CommandLine.arguments[1])
        let first = max(reader.levels.count - 2, 0)
        let size = reader.levels[first]
        _ = try await reader.read(ImageRect(x: 0, y: 0, width: size.width, height: size.height), level: first)
        Measurement.report("first", (Measurement.now() - start) * 1000, "ms")
        Measurement.report("first-processor", (Measurement.processorTime() - startTime) * 1000, "ms")
        let full = reader.levels[0]
        let before = Measurement.processorTime()
        for _ in 0..<regionCount {
            let x = Int.random(in: 0...max(full.width - 512, 0), using: &random)
            let y = Int.random(in: 0...max(full.height - 512, 0), using: &random)
            _ = try await reader.read(ImageRect(x: x, y: y, width: 512, height: 512), level: 0)
        }
        Measurement.report("region", (Measurement.processorTime() - before) * 1000 / Double(regionCount), "ms")
        var (slowest, slowestTime) = (0.0, 0.0)
        for level in reader.levels.indices {
            let (wall, processor) = try await percentiles(reader, level, &random)
            (slowest, slowestTime) = (max(slowest, wall), max(slowestTime, processor))
        }
        Measurement.report("tile", slowest * 1000, "ms")
        Measurement.report("tile-processor", slowestTime * 1000, "ms")
        Measurement.report("peak", Measurement.peakMegabytes(), "MB")
    }

    /// Returns the 95th percentiles of the times and processor times of random tiles.
    static func percentiles(
        _ reader: any RegionReader,
        _ level: Int,
        _ random: inout SystemRandomNumberGenerator
    ) async throws -> (wall: Double, processor: Double) {
        let (columns, rows) = reader.tileCount(atLevel: level)
        var (times, processorTimes): ([Double], [Double]) = ([], [])
        for _ in 0..<tilesPerLevel {
            let column = Int.random(in: 0..<columns, using: &random)
            let row = Int.random(in: 0..<rows, using: &random)
            let (start, startTime) = (Measurement.now(), Measurement.processorTime())
            _ = try await reader.tile(column: column, row: row, level: level)
            times.append(Measurement.now() - start)
            processorTimes.append(Measurement.processorTime() - startTime)
        }
        let index = tilesPerLevel * 95 / 100
        return (times.sorted()[index], processorTimes.sorted()[index])
    }
}
