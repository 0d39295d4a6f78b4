import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImage

@Suite struct DownloadOptionTests {
    @Test func `High priority wins over low if both are set`() {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 1
        let downloader = WebImageDownloader(config: config, transport: transport)
        downloader.start(testURL("/first"), Recorder())
        downloader.start(testURL("/low"), Recorder(), options: .lowPriority)
        downloader.start(testURL("/normal"), Recorder())
        downloader.start(testURL("/both"), Recorder(), options: [.lowPriority, .highPriority])
        for number in 0..<4 { transport.transfers[number].complete([1]) }
        #expect(transport.transfers.map { $0.request.url.path() } == ["/first", "/both", "/normal", "/low"])
        #expect(([.lowPriority, .highPriority] as WebImageOptions).priority == .high)
    }
}
