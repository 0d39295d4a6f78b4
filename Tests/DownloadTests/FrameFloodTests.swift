import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Servers that send endless HTTP/2 frames over TLS. They may only slow down their own download.
@Suite(.enabled(if: NginxServer.isInstalled), .serialized, .timeLimit(.minutes(2))) struct FrameFloodTests {
    private static let megabyte = 1 << 20

    private func downloader(trusting flood: FrameFlood, timeout: Double = 3) -> WebImageDownloader {
        var config = WebImageDownloaderConfig()
        config.certificateAuthorityFile = flood.certificate
        config.downloadTimeout = timeout
        config.maximumResponseByteCount = Self.megabyte
        return WebImageDownloader(config: config)
    }

    /// Starts a download and waits until frames pour in, or it has ended.
    private func begin(_ flood: FrameFlood, _ downloader: WebImageDownloader) async -> (
        token: WebImageDownloadToken, recorder: Recorder
    ) {
        let recorder = Recorder()
        let token = downloader.downloadData(with: flood.url, callbackQueue: .inline) { result in
            recorder.onEnd(result)
            flood.notify()
        }
        _ = await flood.hasSent(8 * Self.megabyte) { !recorder.results.isEmpty }
        return (token, recorder)
    }

    /// libcurl ends every flood itself.
    private struct NoFlood: Error {}

    /// A download in a lasting flood of frames without content. Newer versions of libcurl end some kinds of flood at
    /// once.
    private func lastingFlood(timeout: Double) async throws -> (
        flood: FrameFlood, downloader: WebImageDownloader, token: WebImageDownloadToken, recorder: Recorder
    ) {
        for kind in [.priority, .unknownFrames, .windowUpdates, .priorityAfterHead, .emptyData] as [FrameFlood.Kind] {
            let flood = try await FrameFlood(kind)
            let downloader = downloader(trusting: flood, timeout: timeout)
            let (token, recorder) = await begin(flood, downloader)
            if recorder.results.isEmpty { return (flood, downloader, token, recorder) }
            #expect(recorder.code == .networkConnectionLost)
        }
        throw NoFlood()
    }

    @Test(arguments: FrameFlood.Kind.allCases)
    func `A flood of frames stops no other download, and its own ends`(kind: FrameFlood.Kind) async throws {
        let flood = try await FrameFlood(kind)
        let other = try LoopbackServer { _ in .response(body: [1]) }
        let downloader = downloader(trusting: flood)
        let recorder = await begin(flood, downloader).recorder
        for number in 0..<5 {
            let loaded = try await downloader.downloadData(with: other.url("/\(number)"))
            #expect(Array(loaded.data) == [1])
        }
        await recorder.end()
        #expect(recorder.error != nil && recorder.code != .cancelled)
    }

    @Test func `A download in a flood is aborted with an error that says why`() async throws {
        let (flood, downloader, _, recorder) = try await lastingFlood(timeout: 60)
        await recorder.end()
        withExtendedLifetime(flood) {}
        #expect(recorder.code == .networkConnectionLost)
        #expect(recorder.error?.message.contains("without sending content") == true)
        #expect(downloader.currentDownloadCount == 0)
    }

    @Test func `A download in a flood can be cancelled, and the thread is free again`() async throws {
        let other = try LoopbackServer { _ in .response(body: [1]) }
        let (flood, downloader, token, recorder) = try await lastingFlood(timeout: 3)
        token.cancel()
        withExtendedLifetime(flood) {}
        #expect(recorder.code == .cancelled && downloader.currentDownloadCount == 0)
        #expect(try await downloader.downloadData(with: other.url("/a")).data == Data([1]))
    }

    @Test func `Deadlines of other downloads hold during a flood`() async throws {
        let flood = try await FrameFlood(.priorityAfterHead)
        let silent = try LoopbackServer { _ in .slow(interval: 60, declared: 1000) }
        let downloader = downloader(trusting: flood)
        _ = await begin(flood, downloader)
        let start = ContinuousClock.now
        #expect(await downloadError(downloader, silent.url("/a"))?.code == .timedOut)
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test func `A source policy disables HTTP/2`() async throws {
        let nginx = try await NginxServer(files: ["a.jpg": try smallImageData()])
        let url = nginx.url("/a.jpg", scheme: "https")
        let policy = try SourcePolicy.allowing("127.0.0.1:\(try #require(url.port))")
        let untrusted = WebImageDownloader(policy, change: { $0.certificateAuthorityFile = nginx.certificate })
        #expect(try await untrusted.downloadData(with: url).metrics?.httpVersion == "1.1")
        let flood = try await FrameFlood(.priority)
        let floodPolicy = try SourcePolicy.allowing("127.0.0.1:\(try #require(flood.url.port))")
        let flooded = WebImageDownloader(floodPolicy, change: { $0.certificateAuthorityFile = flood.certificate })
        #expect(await downloadError(flooded, flood.url) != nil)
    }
}
