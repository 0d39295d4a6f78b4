import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// The interval at which a download provides partial data for previews.
@Suite struct ProgressiveIntervalTests {
    /// The partial data and the progress of a download in pieces of ten bytes.
    private func run(
        interval: Double,
        pieces: Int = 100,
        headers: HTTPHeaders
    ) throws -> (left: [(count: Int, expected: Int64?)], reported: [Int64]) {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.minimumProgressInterval = interval
        let downloader = WebImageDownloader(config: config, transport: transport)
        let left = Lock<[(count: Int, expected: Int64?)]>([])
        let reported = Lock<[Int64]>([])
        var request = ImageLoadRequest(url: testURL("/a"))
        request.partialData = PartialImageData {
            true
        } receive: { snapshot in
            if !snapshot.data.isEmpty { left.withLock { $0.append((snapshot.data.count, snapshot.expectedByteCount)) } }
        }
        let end = Lock<Data?>(nil)
        let token = downloader.load(
            request,
            progress: { progress in reported.withLock { $0.append(progress.receivedByteCount) } },
            completion: { result in end.withLock { $0 = try? result.get().data } }
        )
        let transfer = try #require(transport.transfers.first)
        transfer.respond(headers: headers)
        for _ in 0..<pieces { transfer.send([UInt8](repeating: 1, count: 10)) }
        transfer.end()
        #expect(end.withLock { $0?.count } == pieces * 10)
        withExtendedLifetime(token) {}
        return (left.withLock { $0 }, reported.withLock { $0 })
    }

    @Test func `For a body of known length the step is a fraction of the whole`() throws {
        let (left, reported) = try run(interval: 0.25, headers: ["Content-Length": "1000"])
        #expect(left.map(\.count) == [250, 500, 750] && left.allSatisfy { $0.expected == 1000 })
        #expect(reported == [0, 250, 500, 750, 1000])
    }

    @Test func `For a body of unknown length the step is a fraction of the received bytes`() throws {
        let (left, reported) = try run(interval: 0.5, headers: ["Transfer-Encoding": "chunked"])
        #expect(left.map(\.count) == [10, 20, 30, 50, 80, 120, 180, 270, 410, 620, 930])
        #expect(left.allSatisfy { $0.expected == nil })
        #expect(reported == Array(stride(from: 0, through: 1000, by: 10)), "every arrival reports progress")
        let twice = try run(interval: 7, headers: ["Transfer-Encoding": "chunked"])
        #expect(twice.left.map(\.count) == [10, 20, 40, 80, 160, 320, 640], "more than all is all")
    }

    @Test func `The bytes of all steps are in proportion to the body's`() throws {
        let (left, _) = try run(interval: 0.1, pieces: 2000, headers: [:])
        let bytes = left.reduce(0) { $0 + $1.count }
        // Each step is a tenth bigger than the one before it, so all are 11 times the last.
        #expect(bytes <= 11 * 20_000 + 20_000 && left.count < 80)
        #expect(zip(left, left.dropFirst()).allSatisfy { Double($1.count) >= 1.1 * Double($0.count) - 0.001 })
    }

    @Test func `Without an interval every arrival is a step`() throws {
        for headers in [["Content-Length": "100"], [:]] as [HTTPHeaders] {
            let (left, _) = try run(interval: 0, pieces: 10, headers: headers)
            #expect(left.prefix(9).map(\.count) == [10, 20, 30, 40, 50, 60, 70, 80, 90])
        }
    }
}
