import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

@Suite struct DownloaderConfigTests {
    @Test func `The template configures downloaders made afterwards`() async {
        await #expect(processExitsWith: .success) {
            // The shared downloader must not be created while the template is another.
            _ = WebImageDownloader.shared
            let usual = WebImageDownloaderConfig.default
            #expect(usual == WebImageDownloaderConfig())
            let before = WebImageDownloader()
            WebImageDownloaderConfig.default.totalTimeout = 1_234
            let after = WebImageDownloader()
            WebImageDownloaderConfig.default = usual
            #expect(before.config.totalTimeout == 0 && after.config.totalTimeout == 1_234)
            #expect(WebImageDownloader().config == usual)
            var config = after.config
            config.totalTimeout = 5
            #expect(after.config.totalTimeout == 1_234, "each downloader has its own configuration")
        }
    }

    @Test func `The shared downloader keeps interrupted downloads, others only if configured`() {
        let shared = WebImageDownloader.shared.config
        #expect(shared.partialDownloadDirectory?.hasSuffix("/partial") == true)
        #expect(shared.maximumPartialByteCount == 64 << 20 && shared.maximumPartialAge == 604_800)
        #expect(WebImageDownloaderConfig().partialDownloadDirectory == nil)
        #expect(WebImageDownloader(config: WebImageDownloaderConfig()).core.partials == nil)
    }

    @Test func `A configuration change sets where and how much is kept`() throws {
        let downloader = WebImageDownloader(config: WebImageDownloaderConfig())
        downloader.config.partialDownloadDirectory = "/nowhere/a/"
        let first = try #require(downloader.core.partials as? PartialDownloads)
        #expect(first.directory == "/nowhere/a" && first.limits == PartialDownloads.Limits())
        downloader.config.maximumPartialByteCount = -1
        downloader.config.maximumPartialAge = 5
        #expect(downloader.core.partials === first)
        #expect(first.limits.byteCount == 0 && first.limits.age == 5)
        downloader.config.partialDownloadDirectory = "/nowhere/b"
        #expect((downloader.core.partials as? PartialDownloads)?.directory == "/nowhere/b")
        downloader.config.partialDownloadDirectory = ""
        #expect(downloader.core.partials == nil)
    }

    @Test func `A downloader has its initial configuration, and follows changes`() {
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 1
        config.totalTimeout = 77
        #expect(WebImageDownloader(config: config).config == config)
        let transport = FakeTransport()
        let downloader = WebImageDownloader(config: config, transport: transport)
        config.maxConcurrentDownloads = 5
        #expect(downloader.config.maxConcurrentDownloads == 1 && downloader.config.totalTimeout == 77)
        for number in 0..<3 { downloader.start(testURL("/\(number)"), Recorder()) }
        #expect(transport.transfers.count == 1, "it works by it")
        downloader.config = config
        #expect(transport.transfers.count == 3)
    }

    @Test func `User name and password make a credential, unless one is set`() {
        var config = WebImageDownloaderConfig()
        #expect(config.credential == nil)
        config.username = "anna"
        #expect(config.credential == nil)
        config.password = "secret"
        #expect(config.credential == WebImageCredential(user: "anna", password: "secret"))
        config.urlCredential = WebImageCredential(user: "bert", password: "other")
        #expect(config.credential == WebImageCredential(user: "bert", password: "other"))
    }
}
