import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Retries over real sockets and with real timers.
@Suite(.tags(.threadSanitizer)) struct RetryOverNetworkTests {
    private func downloader() -> WebImageDownloader {
        var config = WebImageDownloaderConfig.impatient
        config.retryPolicy.maximumRetryCount = 2
        config.retryPolicy.baseDelay = 0.01
        return WebImageDownloader(config: config)
    }

    @Test func `Retry-After is obeyed`() async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            return number < 3 ? .response(503, headers: [("Retry-After", "0")], body: [9]) : .response(body: [1, 2])
        }
        let loaded = try await downloader().downloadData(with: server.url("/a"))
        #expect(loaded.data == Data([1, 2]) && loaded.response?.statusCode == 200)
        #expect(loaded.metrics?.attemptCount == 3)
        #expect(server.requestCount("/a") == 3)
    }

    @Test func `A Retry-After of a week is not waited for`() async throws {
        let server = try LoopbackServer { _ in .response(503, headers: [("Retry-After", "604800")]) }
        let error = await downloadError(downloader(), server.url("/a"))
        #expect(error?.statusCode == 503 && server.requestCount() == 1)
    }

    @Test func `Broken connections are established again`() async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            switch number {
            case 1: return .reset
            case 2: return .truncated([1], declared: 3)
            default: return .response(body: [1, 2, 3])
            }
        }
        let loaded = try await downloader().downloadData(with: server.url("/a"))
        #expect(loaded.data == Data([1, 2, 3]))
    }

    @Test func `A port without a listener is tried as often as the policy says`() async throws {
        let port = try ReservedPort()
        let downloader = downloader()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/a"))
        let error = await downloadError(downloader, url)
        #expect(error?.code == .cannotConnectToHost)
        #expect(downloader.statistics.retries == 2 && downloader.statistics.failed == 1)
    }
}
