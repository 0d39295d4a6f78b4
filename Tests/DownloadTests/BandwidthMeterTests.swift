import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

@Suite struct BandwidthMeterTests {
    /// Simulates `seconds` of arrivals of `bytes`, `interval` seconds apart.
    private func feed(
        _ meter: inout BandwidthMeter,
        _ total: inout Int64,
        _ now: inout UInt64,
        seconds: Double,
        interval: Double,
        bytes: Int64
    ) {
        for _ in 0..<Int((seconds / interval).rounded()) {
            now += UInt64(interval * 1e9)
            total += bytes
            meter.note(total: total, at: now)
        }
    }

    @Test func `A steady stream has its rate, and a change shows within seconds`() throws {
        var meter = BandwidthMeter()
        var (total, now): (Int64, UInt64) = (0, 5_000_000_000)
        meter.note(total: 0, at: now)
        feed(&meter, &total, &now, seconds: 0.5, interval: 0.01, bytes: 10_000)
        #expect(abs(try #require(meter.rate(at: now)) - 1e6) < 2e4)
        feed(&meter, &total, &now, seconds: 10, interval: 0.01, bytes: 10_000)
        #expect(abs(try #require(meter.rate(at: now)) - 1e6) < 2e4)
        // Ten times faster: half of the change after a second, nearly all after five.
        feed(&meter, &total, &now, seconds: 1, interval: 0.01, bytes: 100_000)
        #expect(abs(try #require(meter.rate(at: now)) - 5.5e6) < 1e5)
        feed(&meter, &total, &now, seconds: 4, interval: 0.01, bytes: 100_000)
        #expect(try #require(meter.rate(at: now)) > 9.6e6)
    }

    @Test func `The rate of a stream that stops halves each second`() throws {
        var meter = BandwidthMeter()
        var (total, now): (Int64, UInt64) = (0, 0)
        meter.note(total: 0, at: now)
        feed(&meter, &total, &now, seconds: 20, interval: 0.01, bytes: 10_000)
        let before = try #require(meter.rate(at: now))
        let after = try #require(meter.rate(at: now + 1_000_000_000))
        #expect(abs(after / before - 0.5) < 0.01)
        #expect(try #require(meter.rate(at: now + 60_000_000_000)) < 1)
    }

    @Test func `There is no rate before a quarter of a second, and never an absurd one`() throws {
        var meter = BandwidthMeter()
        #expect(meter.rate(at: 0) == nil && meter.rate(at: .max) == nil)
        meter.note(total: 1_000_000, at: 100)
        #expect(meter.rate(at: 100) == nil)
        meter.note(total: 2_000_000, at: 100)
        meter.note(total: 3_000_000, at: 200_000_000)
        #expect(meter.rate(at: 240_000_000) == nil)
        #expect(try #require(meter.rate(at: 250_000_100)).isFinite)
        // Times and counts that go back do no harm.
        meter.note(total: 0, at: 0)
        let rate = try #require(meter.rate(at: 300_000_000))
        #expect(rate.isFinite && rate >= 0)
        #expect(meter.rate(at: 50) == nil)
        #expect(try #require(meter.rate(at: .max)).isFinite)
    }

    @Test func `Bytes before the first reading do not count`() throws {
        var meter = BandwidthMeter()
        meter.note(total: 50_000_000, at: 0)
        meter.note(total: 50_100_000, at: 1_000_000_000)
        #expect(try #require(meter.rate(at: 1_000_000_000)) < 200_000)
    }

    @Test func `Progress listeners get the rate`() throws {
        let harness = RetryHarness()
        let recorder = Recorder()
        harness.downloader.start(testURL("/a"), recorder)
        let transfer = harness.transport.transfers[0]
        transfer.respond(headers: ["Content-Length": "100000"])
        for _ in 0..<100 {
            harness.delays.advance(0.01)
            transfer.send(pattern(1000))
        }
        transfer.end()
        #expect(recorder.progress.count == 101)
        #expect(recorder.progress.prefix(20).allSatisfy { $0.bytesPerSecond == nil })
        #expect(abs(try #require(recorder.progress.last?.bytesPerSecond) - 100_000) < 2000)
    }
}
