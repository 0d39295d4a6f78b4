import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// Back-off from hosts, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct HostOverNetworkTests {
    private func downloader() -> WebImageDownloader {
        var config = WebImageDownloaderConfig()
        config.hostBackOff.baseDelay = 60
        config.hostBackOff.failureThreshold = 3
        return WebImageDownloader(config: config)
    }

    @Test func `A server that breaks every connection is not asked any more, and another port is`() async throws {
        let broken = try LoopbackServer { _ in .closeWithoutAnswer }
        let healthy = try LoopbackServer { _ in .response(body: [1]) }
        let downloader = downloader()
        for _ in 0..<3 { #expect(await downloadError(downloader, broken.url("/a"))?.code == .networkConnectionLost) }
        let requests = broken.requestCount()
        for number in 0..<20 {
            let error = await downloadError(downloader, broken.url("/\(number)"))
            let seconds = try #require(error?.retryAfter)
            #expect(error?.code == .hostUnavailable && seconds > 1 && seconds <= 60)
        }
        #expect(broken.requestCount() == requests)
        #expect(await downloadError(downloader, healthy.url("/a")) == nil)
    }

    @Test func `A port without a listener starts the back-off, too`() async throws {
        let port = try ReservedPort()
        let downloader = downloader()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/a"))
        for _ in 0..<3 { #expect(await downloadError(downloader, url)?.code == .cannotConnectToHost) }
        #expect(await downloadError(downloader, url)?.code == .hostUnavailable)
        #expect(!downloader.shouldBlockFailedURL(url, error: WebImageError(.hostUnavailable, "")))
    }

    @Test func `A recovering server is probed by one request`() async throws {
        let isBroken = Lock(true)
        let server = try LoopbackServer { _ in isBroken.withLock { $0 } ? .response(502) : .response(body: [1]) }
        let downloader = downloader()
        downloader.config.hostBackOff.baseDelay = 0.2
        downloader.config.hostBackOff.jitter = 0
        downloader.config.retryPolicy.maximumRetryCount = 5
        downloader.config.retryPolicy.baseDelay = 0.01
        downloader.config.retryPolicy.retryableStatusCodes = []
        for _ in 0..<3 { #expect(await downloadError(downloader, server.url("/a"))?.statusCode == 502) }
        isBroken.withLock { $0 = false }
        // It waits until the host may be asked, and the downloads that wait for it follow.
        let recorders = (0..<5).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() { downloader.start(server.url("/\(number)"), recorder) }
        for recorder in recorders { await recorder.end() }
        #expect(recorders.allSatisfy { $0.data == Data([1]) } && server.requestCount() == 8)
    }

    @Test func `Retry-After delays the URL, and after three responses all downloads from the host`() async throws {
        let server = try LoopbackServer { _ in .response(429, headers: [("Retry-After", "3600")]) }
        let downloader = downloader()
        for (number, path) in ["/a", "/b", "/c"].enumerated() {
            let asked = await downloadError(downloader, server.url(path))
            #expect(asked?.statusCode == 429 && asked?.retryAfter == 3600)
            let again = await downloadError(downloader, server.url(path))
            let seconds = try #require(again?.retryAfter)
            #expect(again?.code == .hostUnavailable && seconds > 590 && seconds <= 600)
            #expect(server.requestCount() == number + 1)
        }
        #expect(await downloadError(downloader, server.url("/d"))?.code == .hostUnavailable)
        #expect(server.requestCount() == 3)
    }

    @Test func `A manager does not remember an image as failed because of a host's back-off`() async throws {
        let server = try LoopbackServer { _ in .closeWithoutAnswer }
        let manager = WebImageManager(cache: FakeCache(), loader: downloader(), pipeline: Pipeline())
        let url = server.url("/a.jpg")
        var codes: [WebImageError.Code] = []
        for _ in 0..<4 {
            do throws(WebImageError) { _ = try await manager.image(with: url) } catch { codes.append(error.code) }
        }
        #expect(codes.prefix(3).allSatisfy { $0 == .networkConnectionLost } && codes.last == .hostUnavailable)
        #expect(!manager.isFailed(url))
    }
}
