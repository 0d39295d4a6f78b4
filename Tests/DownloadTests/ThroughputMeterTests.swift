import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

@Suite struct ThroughputMeterTests {
    private func seconds(_ seconds: Double) -> UInt64 { UInt64(seconds * 1e9) }

    /// Adds bytes in steps of 10 ms.
    private func feed(_ meter: inout ThroughputMeter, from start: Double, seconds length: Double, bytesPerSecond: Int64)
    {
        for step in 1...Int(length * 100) {
            meter.add(bytesPerSecond / 100, at: seconds(start + Double(step) / 100))
        }
    }

    @Test func `A steady line has its rate, and idle time does not count`() throws {
        var meter = ThroughputMeter()
        meter.setBusy(true, at: seconds(100))
        feed(&meter, from: 100, seconds: 5, bytesPerSecond: 1_000_000)
        meter.setBusy(false, at: seconds(105))
        #expect(abs(try #require(meter.rate(at: seconds(105))) - 1e6) < 3e4)
        #expect(meter.rate(at: seconds(105)) == meter.rate(at: seconds(90_000)))
        meter.setBusy(true, at: seconds(90_000))
        feed(&meter, from: 90_000, seconds: 1, bytesPerSecond: 1_000_000)
        #expect(abs(try #require(meter.rate(at: seconds(90_001))) - 1e6) < 3e4)
    }

    @Test func `Waiting for a running transfer counts, and older readings count less`() throws {
        var meter = ThroughputMeter()
        meter.setBusy(true, at: 0)
        feed(&meter, from: 0, seconds: 60, bytesPerSecond: 1_000_000)
        let before = try #require(meter.rate(at: seconds(60)))
        let after = try #require(meter.rate(at: seconds(65)))
        #expect(abs(after / before - 0.5) < 0.02, "five seconds without a byte")
        feed(&meter, from: 60, seconds: 60, bytesPerSecond: 100_000)
        #expect(abs(try #require(meter.rate(at: seconds(120))) - 1e5) < 2e4)
    }

    @Test func `There is no rate before there is enough data`() throws {
        var meter = ThroughputMeter()
        #expect(meter.rate(at: seconds(10)) == nil)
        meter.setBusy(true, at: seconds(10))
        #expect(meter.rate(at: seconds(20)) == nil, "nothing arrived")
        meter.add(ThroughputMeter.leastByteCount - 1, at: seconds(20))
        #expect(meter.rate(at: seconds(20)) == nil, "hardly anything")
        meter.add(1, at: seconds(20))
        #expect(try #require(meter.rate(at: seconds(20))) > 0)
        var hasty = ThroughputMeter()
        hasty.setBusy(true, at: seconds(10))
        hasty.add(10_000_000, at: seconds(10.1))
        hasty.setBusy(false, at: seconds(10.2))
        #expect(hasty.rate(at: seconds(100)) == nil, "a fifth of a second of work")
    }

    @Test func `Absurd figures do no harm`() throws {
        var meter = ThroughputMeter()
        meter.setBusy(true, at: 0)
        for step in 1...1000 { meter.add(16 << 10, at: seconds(Double(step) / 100)) }
        let before = try #require(meter.rate(at: seconds(10)))
        meter.add(-1, at: seconds(10))
        meter.add(.min, at: seconds(10))
        #expect(meter.rate(at: seconds(10)) == before)
        meter.add(.max, at: seconds(10))
        meter.add(.max, at: 0)
        meter.setBusy(false, at: seconds(10))
        meter.setBusy(true, at: .max)
        meter.setBusy(false, at: 1)
        #expect(try #require(meter.rate(at: .max)).isFinite)
    }

    @Test func `The estimate is that of all transfers together`() throws {
        let harness = RetryHarness(.never)
        let downloader = harness.downloader
        #expect(downloader.estimatedBytesPerSecond == nil)
        downloader.start(testURL("/a"), Recorder())
        downloader.start(testURL("/b"), Recorder())
        let transfers = harness.transport.transfers
        for transfer in transfers { transfer.respond(headers: ["Content-Length": "400000"]) }
        for _ in 0..<100 {
            harness.delays.advance(0.01)
            for transfer in transfers { transfer.send(pattern(4000)) }
        }
        let busy = try #require(downloader.estimatedBytesPerSecond)
        #expect(abs(busy - 800_000) < 20_000)
        for transfer in transfers { transfer.end() }
        harness.delays.advance(3600)
        #expect(abs(try #require(downloader.estimatedBytesPerSecond) - busy) < 1000, "an hour without downloads")
    }

    @Test func `Resumed bytes do not count as transferred`() throws {
        let harness = ResumeHarness()
        let image = noise(800_000)
        func feed(_ transfer: FakeTransport.Transfer, from start: Int, to end: Int) {
            for offset in stride(from: start, to: end, by: 10_000) {
                harness.delays.advance(0.01)
                transfer.send(Array(image[offset..<offset + 10_000]))
            }
        }
        let first = try #require(harness.start())
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "800000"])
        feed(first, from: 0, to: 300_000)
        first.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
        let second = try #require(harness.start())
        second.respond(206, headers: ["ETag": "\"one\"", "Content-Range": "bytes 295904-799999/800000"])
        second.send(Array(image[295_904..<300_000]))
        feed(second, from: 300_000, to: 800_000)
        #expect(abs(try #require(harness.downloader.estimatedBytesPerSecond) - 1e6) < 5e4)
    }

    @Test func `Retries, cancellations and waits neither count bytes twice nor keep the clock running`() throws {
        let harness = RetryHarness(.exact)
        let downloader = harness.downloader
        let token = downloader.start(testURL("/a"), Recorder())
        harness.transport.transfers[0].respond(headers: ["Content-Length": "500000"])
        harness.delays.advance(1)
        harness.transport.transfers[0].send(pattern(300_000))
        harness.fail(0)
        harness.delays.advance(1)
        harness.transport.transfers[1].respond(headers: ["Content-Length": "500000"])
        harness.delays.advance(1)
        harness.transport.transfers[1].send(pattern(300_000))
        token.cancel()
        harness.delays.advance(60)
        // The same amount in each of two seconds; the later one has slightly more weight.
        #expect(abs(try #require(downloader.estimatedBytesPerSecond) - 321_300) < 3000)
        downloader.start(testURL("/b"), Recorder())
        downloader.cancelAllDownloads()
        harness.delays.advance(60)
        #expect(abs(try #require(downloader.estimatedBytesPerSecond) - 321_300) < 3000)
    }
}
