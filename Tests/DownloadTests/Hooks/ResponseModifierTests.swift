import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite struct ResponseModifierTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader

    init() { downloader = WebImageDownloader(transport: transport) }

    @Test func `A status changed to an acceptable one loads`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let harness = try EndToEndHarness { _ in .response(404, body: body) }
        let url = harness.server.url("/a")
        #expect(await harness.error(url)?.statusCode == 404)
        let context = WebImageContext.with { $0.downloadResponseModifier = DownloadResponseModifier(statusCode: 200) }
        _ = try await harness.manager.image(with: url, context: context)
        let end = await harness.downloader.end(url, context: context)
        #expect(try end.results.first?.get().response?.statusCode == 200)
    }

    @Test func `Changing only fields keeps the status`() {
        downloader.responseModifier = DownloadResponseModifier(headers: ["X": "1"])
        let recorder = Recorder()
        let token = downloader.start(testURL("/a"), recorder)
        let refusal = transport.transfers[0].respond(404, headers: ["Content-Length": "1"])
        #expect(refusal?.code == .invalidDownloadStatusCode)
        transport.transfers[0].end(refusal)
        #expect(recorder.error?.statusCode == 404 && recorder.error?.response?.headers["X"] == "1")
        #expect(token.response?.headers["X"] == "1", "the token has the response that was looked at")
    }

    @Test func `A modifier that returns nil is an invalid response`() {
        downloader.responseModifier = DownloadResponseModifier { _ in nil }
        let recorders = [Recorder(), Recorder()]
        let tokens = recorders.map { downloader.start(testURL("/a"), $0) }
        let refusal = transport.transfers[0].respond(200, headers: ["X": "1"])
        transport.transfers[0].end(refusal)
        for (recorder, token) in zip(recorders, tokens) {
            #expect(recorder.code == .invalidDownloadResponse && recorder.results.count == 1)
            #expect(recorder.error?.response?.headers["X"] == "1")
            #expect(token.response?.statusCode == 200)
        }
    }

    @Test func `The checks use the modified response`() {
        downloader.config.acceptableContentTypes = ["image/png"]
        downloader.responseModifier = DownloadResponseModifier(headers: ["Content-Type": "image/png"])
        let right = Recorder()
        downloader.start(testURL("/a"), right)
        #expect(transport.transfers[0].respond(headers: ["Content-Type": "text/plain"]) == nil)
        transport.transfers[0].send([1])
        transport.transfers[0].end()
        #expect(right.data == Data([1]))
        downloader.responseModifier = DownloadResponseModifier(statusCode: 304)
        downloader.start(testURL("/b"), Recorder())
        #expect(transport.transfers[1].respond()?.code == .cacheNotModified)
        downloader.responseModifier = DownloadResponseModifier(headers: ["Content-Type": "text/html"])
        downloader.start(testURL("/c"), Recorder())
        let headers: HTTPHeaders = ["Content-Type": "image/png"]
        #expect(transport.transfers[2].respond(headers: headers)?.code == .invalidDownloadContentType)
    }

    @Test func `A length made up by a modifier does not cause a lost connection`() {
        downloader.config.maximumResponseByteCount = 1000
        downloader.responseModifier = DownloadResponseModifier(headers: ["Content-Length": "123456"])
        let recorder = Recorder()
        downloader.start(testURL("/a"), recorder)
        transport.transfers[0].complete([1, 2])
        #expect(recorder.data == Data([1, 2]))
        #expect(recorder.progress.allSatisfy { $0.expectedByteCount == 2 })
    }

    @Test func `A length removed by a modifier does not disable the checks`() {
        downloader.config.maximumResponseByteCount = 1000
        downloader.responseModifier = DownloadResponseModifier { response in
            var response = response
            response.headers["Content-Length"] = nil
            return response
        }
        let recorders = [Recorder(), Recorder()]
        downloader.start(testURL("/a"), recorders[0])
        let refusal = transport.transfers[0].respond(headers: ["Content-Length": "1001"])
        #expect(refusal?.limit?.name == "maximumResponseByteCount")
        transport.transfers[0].end(refusal)
        downloader.start(testURL("/b"), recorders[1])
        transport.transfers[1].respond(headers: ["Content-Length": "3"])
        transport.transfers[1].send([1])
        transport.transfers[1].end()
        #expect(recorders.map(\.code) == [.limitExceeded, .networkConnectionLost])
    }

    @Test func `The context's modifier replaces the downloader's`() throws {
        downloader.responseModifier = DownloadResponseModifier { _ in nil }
        let recorder = Recorder()
        let own = DownloadResponseModifier(headers: ["X": "context"])
        downloader.start(testURL("/a"), recorder, context: .with { $0.downloadResponseModifier = own })
        transport.transfers[0].complete([1])
        #expect(try recorder.results.first?.get().response?.headers["X"] == "context")
    }
}
