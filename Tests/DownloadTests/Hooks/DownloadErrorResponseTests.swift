import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite struct DownloadErrorResponseTests {
    @Test(arguments: [
        (304, "a/b", WebImageError.Code.cacheNotModified), (500, "a/b", .invalidDownloadStatusCode),
        (200, "text/html", .invalidDownloadContentType),
    ])
    func `An error caused by a response has the response`(status: Int, type: String, code: WebImageError.Code)
        async throws
    {
        let server = try LoopbackServer { _ in .response(status, headers: [("Content-Type", type), ("ETag", "\"1\"")]) }
        let downloader = WebImageDownloader()
        downloader.config.acceptableContentTypes = ["a/b"]
        let error = await downloadError(downloader, server.url("/a"))
        #expect(error?.code == code)
        #expect(error?.response?.statusCode == status && error?.response?.headers["ETag"] == "\"1\"")
        #expect(error?.response?.url == server.url("/a"))
    }

    @Test func `A length announced above the limit has the response, too, and a lost connection has none`() async throws
    {
        let server = try LoopbackServer { request in
            request.path == "/long" ? .response(body: pattern(1001)) : .closeWithoutAnswer
        }
        let downloader = WebImageDownloader()
        downloader.config.maximumResponseByteCount = 1000
        #expect(await downloadError(downloader, server.url("/long"))?.response?.contentLength == 1001)
        #expect(await downloadError(downloader, server.url("/closed"))?.response == nil)
    }
}
