import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// Common complaints about image loaders that concern the downloader.
@Suite(.tags(.threadSanitizer)) struct DownloadComplaintTests {
    @Test func `Complaint 13: each failing caller completes once, also one that joins at the last moment`() {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(config: .init(), transport: transport)
        let late = Recorder()
        let recorders = (0..<100).map { _ in Recorder() }
        let ends = Lock(0)
        for recorder in recorders {
            downloader.downloadData(with: testURL("/a"), callbackQueue: .inline) { result in
                // While the callers are notified, another one joins: it must not be lost in the ending download.
                if ends.withLock({ ends in
                    ends += 1
                    return ends == 50
                }) {
                    downloader.start(testURL("/a"), late)
                }
                recorder.onEnd(result)
            }
        }
        transport.transfers[0].end(WebImageError(.networkConnectionLost, ""))
        #expect(ends.withLock { $0 } == 100)
        #expect(recorders.allSatisfy { $0.results.count == 1 && $0.code == .networkConnectionLost })
        #expect(late.results.isEmpty && transport.transfers.count == 2)
        transport.transfers[1].complete([1])
        #expect(late.data == Data([1]) && late.results.count == 1)
    }

    @Test func `Complaint 21: a load survives two transient failures`() async throws {
        let count = Lock(0)
        let png = try Fixtures.data("PNG/animated.png")
        let server = try LoopbackServer { _ in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            return number < 3 ? .response(503) : .response(body: Array(png))
        }
        let manager = WebImageManager(cache: FakeCache(), loader: WebImageDownloader(), pipeline: Pipeline())
        var context = WebImageContext()
        var policy = DownloadRetryPolicy()
        policy.baseDelay = 0.01
        context.retryPolicy = policy
        _ = try await manager.image(with: server.url("/a.png"), context: context)
        #expect(server.requestCount() == 3)
        context.retryPolicy = nil
        count.withLock { $0 = 0 }
        do throws(WebImageError) {
            _ = try await manager.image(with: server.url("/b.png"), context: context)
            Issue.record("loaded without a further attempt")
        } catch {
            #expect(error.statusCode == 503)
        }
    }

    @Test func `Trap 3: a late subscriber gets the end`() async {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(config: .init(), transport: transport)
        for round in 0..<500 {
            let (first, second) = (Recorder(), Recorder())
            downloader.start(testURL("/a"), first)
            let transfer = transport.transfers[transport.transfers.count - 1]
            async let ended: Void = onThread { transfer.complete([1]) }
            downloader.start(testURL("/a"), second)
            await ended
            // It joined the ended download, or started another.
            if second.results.isEmpty { transport.transfers[transport.transfers.count - 1].complete([1]) }
            #expect(first.results.count == 1 && second.results.count == 1, "round \(round)")
            #expect(first.data == Data([1]) && second.data == Data([1]))
        }
        #expect(downloader.currentDownloadCount == 0)
    }
}
