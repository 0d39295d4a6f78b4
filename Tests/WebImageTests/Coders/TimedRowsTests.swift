import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

@Suite struct TimedRowsTests {
    /// Grey rows, each of which takes a second of a clock that stands still otherwise.
    private final class SlowRows: ScanlineSource {
        let width = 4
        let height: Int
        let layout = ScanlineLayout.gray8
        var colorProfile: Data? { nil }
        let clock: ManualClock
        private(set) var rowCount = 0

        init(height: Int, clock: ManualClock) { (self.height, self.clock) = (height, clock) }

        func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
            for row in 0..<count {
                (base + row * bytesPerRow).initializeMemory(
                    as: UInt8.self,
                    repeating: UInt8(truncatingIfNeeded: rowCount),
                    count: 4
                )
                rowCount += 1
                clock.advance(1)
            }
        }
    }

    private func read(_ rows: some ScanlineSource) throws(WebImageError) -> [UInt8] {
        let stride = 8
        var memory = [UInt8](repeating: 255, count: stride * rows.height)
        let result = memory.withUnsafeMutableBytes { bytes -> Result<Void, WebImageError> in
            guard let base = bytes.baseAddress else { return .success(()) }
            do throws(WebImageError) {
                try rows.readRows(rows.height, into: base, bytesPerRow: stride)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return memory
    }

    @Test func `Rows that are in time come out as they are`() throws {
        let clock = ManualClock()
        let plain = try read(SlowRows(height: 50, clock: ManualClock()))
        let timed = TimedRows(SlowRows(height: 50, clock: clock), seconds: 1000, clock: clock.source)
        #expect(try read(timed) == plain)
        #expect(timed.width == 4 && timed.height == 50 && timed.layout == .gray8 && timed.colorProfile == nil)
    }

    @Test func `When the time is over the decode ends within a few rows`() {
        let clock = ManualClock()
        let slow = SlowRows(height: 500, clock: clock)
        let timed = TimedRows(slow, seconds: 20, clock: clock.source)
        do throws(WebImageError) {
            _ = try read(timed)
            Issue.record("it went on")
        } catch {
            #expect(error.code == .decodeTimedOut && error.message.contains("20.0 s"))
        }
        #expect(slow.rowCount == 32)
    }

    @Test(arguments: [0, -5, Double.nan]) func `No time at all is over at once`(seconds: Double) {
        let clock = ManualClock()
        let slow = SlowRows(height: 5, clock: clock)
        #expect(throws: WebImageError.self) { try read(TimedRows(slow, seconds: seconds, clock: clock.source)) }
        #expect(slow.rowCount == 0)
    }

    @Test func `Without a limit rows are not touched, and none is put on twice`() {
        let slow = SlowRows(height: 5, clock: ManualClock())
        #expect(TimedRows.limiting(slow, by: ImageLimits()) === slow)
        var limits = ImageLimits()
        limits.maximumDecodeDuration = 5
        let timed = TimedRows.limiting(slow, by: limits)
        #expect(timed !== slow && TimedRows.limiting(timed, by: limits) === timed)
    }

    @Test(arguments: ["JPEG/gray.jpg", "PNG/photo-rgb.png", "JPEG/progressive.jpg"])
    func `A decode that has no time left ends so, and one that has is the same to the bit`(name: String) throws {
        let data = try Fixtures.data(name)
        var options = ImageDecodeOptions()
        let plain = try ImageCodersManager().decode(data, options: options)
        options.limits.maximumDecodeDuration = 1e12
        let timed = try ImageCodersManager().decode(data, options: options)
        #expect(timed.bitmap.pixels == plain.bitmap.pixels)
        options.limits.maximumDecodeDuration = 0
        do throws(WebImageError) {
            _ = try ImageCodersManager().decode(data, options: options)
            Issue.record("it went on")
        } catch {
            #expect(error.code == .decodeTimedOut)
        }
    }
}
