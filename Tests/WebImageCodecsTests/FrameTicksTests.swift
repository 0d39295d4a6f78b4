import ModelTestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct FrameTicksTests {
    @Test func `Rounding errors are carried to the next frame`() {
        var ticks = FrameTicks(perSecond: 100, fewest: 2, most: 65_535)
        #expect((0..<6).map { _ in ticks.ticks(for: 1.0 / 30) } == [3, 4, 3, 3, 4, 3])
        ticks = FrameTicks(perSecond: 100, fewest: 2, most: 65_535)
        #expect((0..<4).map { _ in ticks.ticks(for: 0.025) } == [3, 2, 3, 2])
    }

    @Test func `Frames too short for the format are extended and take no time from long ones`() {
        var ticks = FrameTicks(perSecond: 100, fewest: 2, most: 65_535)
        #expect((0..<20).map { _ in ticks.ticks(for: 0.011) } == Array(repeating: 2, count: 20))
        #expect((99...100).contains(ticks.ticks(for: 1)))
    }

    @Test func `Frames that are too long are cut`() {
        var ticks = FrameTicks(perSecond: 100, fewest: 2, most: 65_535)
        #expect(ticks.ticks(for: 1e300) == 65_535)
        #expect(ticks.ticks(for: .infinity) == 10)
        #expect((5...6).contains(ticks.ticks(for: 0.05)))
    }

    @Test(
        "A delay is the nearest fraction",
        arguments: [
            (0.1, 1, 10), (0.07, 7, 100), (1.0 / 30, 1, 30), (0.333, 333, 1000), (0.02, 1, 50), (655.35, 13_107, 20),
            (1.001, 1001, 1000), (65_535, 65_535, 1), (1e9, 65_535, 1), (.nan, 1, 10), (-1, 1, 10), (0, 1, 10),
            (1001.0 / 24_000, 1001, 24_000), (65_000.7, 65_001, 1),
        ] as [(Double, UInt16, UInt16)]
    )
    func delay(seconds: Double, numerator: UInt16, denominator: UInt16) {
        let delay = PNGDelay(seconds)
        #expect(delay.numerator == numerator && delay.denominator == denominator)
    }

    @Test func `Any delay is off by less than the tick of every other format`() {
        for step in 1...2000 {
            let seconds = Double(step) * 0.0137
            let delay = PNGDelay(seconds)
            let wanted = FrameDuration.corrected(seconds)
            #expect(abs(Double(delay.numerator) / Double(delay.denominator) - wanted) < 0.0005)
        }
    }
}
