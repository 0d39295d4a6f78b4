import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct TimedRowsTests {
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

    @Test func `Rows in time are returned unchanged`() throws {
        let clock = ManualClock()
        let plain = try read(SlowRows(height: 50, clock: ManualClock()))
        let timed = TimedRows(
            SlowRows(height: 50, clock: clock),
            until: DecodeDeadline(seconds: 1000, clock: clock.source)
        )
        #expect(try read(timed) == plain)
        #expect(timed.width == 4 && timed.height == 50 && timed.layout == .gray8 && timed.colorProfile == nil)
    }

    @Test func `When the time is over the decode ends within a few rows`() {
        let clock = ManualClock()
        let slow = SlowRows(height: 500, clock: clock)
        let timed = TimedRows(slow, until: DecodeDeadline(seconds: 20, clock: clock.source))
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
        #expect(throws: WebImageError.self) {
            try read(TimedRows(slow, until: DecodeDeadline(seconds: seconds, clock: clock.source)))
        }
        #expect(slow.rowCount == 0)
    }

    @Test func `Without a limit rows are not wrapped, and none is wrapped twice`() {
        let slow = SlowRows(height: 5, clock: ManualClock())
        #expect(TimedRows.limiting(slow, by: ImageLimits()) === slow)
        var limits = ImageLimits()
        limits.maximumDecodeDuration = 5
        let timed = TimedRows.limiting(slow, by: limits)
        #expect(timed !== slow && TimedRows.limiting(timed, by: limits) === timed)
    }

    @Test(arguments: ["JPEG/gray.jpg", "PNG/photo-rgb.png", "JPEG/progressive.jpg"])
    func `A decode without time ends with an error, and one with time is the same to the bit`(name: String) throws {
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

    @Test(arguments: ["progressive", "many-scans", "arithmetic"])
    func `The time of a JPEG is over before its scans were read`(name: String) throws {
        // Half of the bytes do not have all scans, so a decoder that reads them first finds another error.
        let data = try Fixtures.data("JPEG/\(name).jpg")
        var options = ImageDecodeOptions()
        options.limits.maximumDecodeDuration = 0
        #expect(throws: WebImageError(.decodeTimedOut, "")) {
            try JPEGCoder().decode(data.prefix(data.count / 2), options: options)
        }
    }

    @Test func `Scans of an arriving JPEG are read while there is time`() throws {
        let data = try Fixtures.data("JPEG/many-scans.jpg")
        let image = IncrementalJPEG(options: .init())
        image.limit(to: DecodeDeadline(seconds: 1e6))
        #expect(try image.advance(data.prefix(data.count / 2), isFinished: false))
        image.limit(to: DecodeDeadline(seconds: 0))
        #expect(throws: WebImageError(.decodeTimedOut, "")) { try image.advance(data, isFinished: true) }
    }

    @Test(arguments: ["JPEG/many-scans.jpg", "JPEG/photo.jpg", "PNG/photo-rgb.png", "GIF/photo.gif"])
    func `Without time an arriving image is not begun, and with time it is the same to the bit`(
        name: String
    ) throws {
        let data = try Fixtures.data(name)
        var options = ImageDecodeOptions()
        let plain = try ImageCodersManager().decode(data, options: options)
        options.limits.maximumDecodeDuration = 1e12
        let decoder = ProgressiveFixtures.coder(name).makeProgressiveDecoder(options: options)
        for count in stride(from: 0, to: data.count, by: 1 + data.count / 5) {
            try decoder.update(data.prefix(count), isFinished: false)
            _ = try decoder.image(maximumPreviewPixelCount: 100)
        }
        try decoder.update(data, isFinished: true)
        #expect(try decoder.image(maximumPreviewPixelCount: 100)?.bitmap.pixels == plain.bitmap.pixels)
        options.limits.maximumDecodeDuration = 0
        let late = ProgressiveFixtures.coder(name).makeProgressiveDecoder(options: options)
        #expect(throws: WebImageError(.decodeTimedOut, "")) { try late.update(data, isFinished: false) }
    }

    @Test func `Calls add up, and the time between them does not count`() throws {
        let clock = ManualClock()
        var limits = ImageLimits()
        #expect(DecodeStopwatch(limits) == nil)
        limits.maximumDecodeDuration = 5
        var watch = try #require(DecodeStopwatch(limits, clock: clock.source))
        for left in [5, 3, 1] as [UInt64] {
            let end = try watch.measure { (deadline) throws(WebImageError) -> UInt64 in
                let now = clock.source.monotonicNanoseconds()
                clock.advance(2)
                return deadline.nanoseconds - now
            }
            #expect(end == left * 1_000_000_000)
            clock.advance(100)
        }
        var wasCalled = false
        #expect(throws: WebImageError(.decodeTimedOut, "")) {
            try watch.measure { (_) throws(WebImageError) in wasCalled = true }
        }
        #expect(!wasCalled)
    }
}
