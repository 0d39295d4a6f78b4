import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Hooks by themselves; their use by downloads has separate suites.
@Suite struct HookValueTests {
    private let url = URL(string: "http://host/a.jpg")!

    @Test func `A modifier made of parts sets method and body, and replaces fields`() async throws {
        var request = DownloadRequest(url: url, method: "PUT", headers: ["Accept": "a", "X": "1"], body: Data([1]))
        let posting = DownloadRequestModifier(method: "POST", headers: ["accept": "b"], body: Data([2]))
        let posted = try #require(await posting.modifiedRequest(for: request))
        #expect(posted.method == "POST" && posted.body == Data([2]))
        #expect(posted.headers["Accept"] == "b" && posted.headers["X"] == "1")
        let plain = try #require(await DownloadRequestModifier().modifiedRequest(for: request))
        request.method = "GET"
        request.body = nil
        #expect(plain == request)
    }

    @Test func `A modifier may be asynchronous, and may return nil`() async {
        let request = DownloadRequest(url: url)
        let slow = DownloadRequestModifier(asynchronously: { request in
            await Task.yield()
            return request
        })
        #expect(await slow.modifiedRequest(for: request) == request)
        #expect(await DownloadRequestModifier { _ in nil }.modifiedRequest(for: request) == nil)
    }

    @Test func `A response modifier made of parts keeps all other parts`() {
        let response = HTTPResponse(url: url, statusCode: 404, headers: ["Content-Type": "text/html", "X": "1"])
        let typed = DownloadResponseModifier(headers: ["content-type": "image/png"]).modifiedResponse(for: response)
        #expect(typed?.statusCode == 404 && typed?.httpVersion == "1.1")
        #expect(typed?.mimeType == "image/png" && typed?.headers["X"] == "1")
        let good = DownloadResponseModifier(statusCode: 200, httpVersion: "2").modifiedResponse(for: response)
        #expect(good?.statusCode == 200 && good?.httpVersion == "2" && good?.headers == response.headers)
        #expect(DownloadResponseModifier { _ in nil }.modifiedResponse(for: response) == nil)
    }

    @Test func `Base64 is decoded, line breaks are ignored, and invalid base64 gives nil`() throws {
        let decryptor = DownloadDecryptor.base64
        #expect(try decryptor.decrypted(Data("aGVs\r\nbG8=".utf8), response: nil) == Data("hello".utf8))
        #expect(try decryptor.decrypted(Data("a".utf8), response: nil) == nil)
    }

    @Test func `A redirect handler decides`() {
        let response = HTTPResponse(url: url, statusCode: 302)
        let handler = DownloadRedirectHandler { response, next in
            response.statusCode == 302 ? .follow(next) : .stop
        }
        guard case .follow(let next) = handler.decision(for: response, next: DownloadRequest(url: url)) else {
            Issue.record("the handler said to follow")
            return
        }
        #expect(next.url == url)
    }

    @Test func `Hooks of a context override the downloader's own`() {
        let own = DownloadRequestModifier()
        let other = DownloadRequestModifier()
        var defaults = DownloadTransferHooks()
        defaults.requestModifier = other
        defaults.decryptor = .base64
        var hooks = DownloadTransferHooks()
        #expect(hooks.filled(from: defaults).requestModifier === other)
        hooks.requestModifier = own
        let filled = hooks.filled(from: defaults)
        #expect(filled.requestModifier === own && filled.decryptor === DownloadDecryptor.base64)
        #expect(hooks.identity != defaults.identity && DownloadTransferHooks().identity == nil)
    }

    @Test func `Downloads with different hooks are not shared, also when the downloader's own change`() {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(config: WebImageDownloaderConfig(), transport: transport)
        var context = WebImageContext()
        context.downloadDecryptor = .base64
        let requests = [
            ImageLoadRequest(url: url), ImageLoadRequest(url: url, context: context),
            ImageLoadRequest(url: url, context: context), ImageLoadRequest(url: url),
        ]
        for request in requests { _ = downloader.start(request, progress: { _ in }, completion: { _ in }) }
        #expect(transport.transfers.count == 2)
        downloader.core.changeHooks { $0.responseModifier = DownloadResponseModifier() }
        _ = downloader.start(ImageLoadRequest(url: url), progress: { _ in }, completion: { _ in })
        #expect(transport.transfers.count == 3)
        downloader.core.changeHooks { _ in }
        _ = downloader.start(ImageLoadRequest(url: url), progress: { _ in }, completion: { _ in })
        #expect(transport.transfers.count == 3)
        downloader.cancelAllDownloads()
    }

    @Test func `No retry is a distinct policy`() {
        #expect(DownloadRetryPolicy.never.maximumRetryCount == 0)
        #expect(DownloadRetryPolicy() != .never)
        var context = WebImageContext()
        context.retryPolicy = .never
        #expect(context.retryPolicy != nil, "it is not taken for no policy")
    }
}
