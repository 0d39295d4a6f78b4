import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageSupport

extension TrapTests {
    @Test func `Trap 6: a refused response is one end`() {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(transport: transport)
        downloader.responseModifier = DownloadResponseModifier { $0.statusCode == 201 ? nil : $0 }
        for (number, status) in [404, 304, 201].enumerated() {
            let recorders = [Recorder(), Recorder()]
            for recorder in recorders { downloader.start(testURL("/\(number)"), recorder) }
            let transfer = transport.transfers[number]
            let refusal = transfer.respond(status, headers: ["Content-Length": "1"])
            #expect(refusal != nil)
            transfer.end(refusal)
            transfer.end(nil)
            for recorder in recorders {
                #expect(recorder.results.count == 1 && recorder.code == refusal?.code && recorder.progressAfterEnd == 0)
            }
        }
        #expect(downloader.currentDownloadCount == 0)
    }

    @Test func `Trap 8: a body in a hundred thousand pieces is copied a bounded number of times`() throws {
        let piece = pattern(64)
        var buffer = BodyBuffer(limit: 64 << 20, pool: BufferPool(capacity: 0))
        var (copied, capacity) = (0, 0)
        for _ in 0..<100_000 {
            let before = buffer.count
            try piece.withUnsafeBytes { try buffer.append($0) }
            if buffer.capacity != capacity {
                copied += before
                capacity = buffer.capacity
            }
        }
        #expect(buffer.count == 6_400_000)
        #expect(
            copied <= 2 * buffer.count,
            "each byte moves twice at most on the average, whatever the number of pieces"
        )
    }
}
