import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageCodecs
@testable import WebImageLoading

extension ComplaintTests {
    /// A server with one image, with a lifetime of a year.
    private struct Publisher {
        let server: LoopbackServer
        private let content: Lock<(body: [UInt8], tag: String, date: String?)>

        init() throws {
            let content = Lock((body: [UInt8](), tag: "", date: String?.none))
            self.content = content
            server = try LoopbackServer { request in
                let (body, tag, date) = content.withLock { $0 }
                if !tag.isEmpty, request.header("If-None-Match") == tag { return .response(304) }
                if tag.isEmpty, let date, request.header("If-Modified-Since") == date { return .response(304) }
                var headers = [("Cache-Control", "public, max-age=31536000, immutable")]
                if !tag.isEmpty { headers.append(("ETag", tag)) }
                if let date { headers.append(("Last-Modified", date)) }
                return .response(headers: headers, body: body)
            }
        }

        func publish(_ fixture: String, tag: String = "", date: String? = nil) throws {
            let body = [UInt8](try Fixtures.data(fixture))
            content.withLock { $0 = (body, tag, date) }
        }
    }

    @Test(arguments: ["etag", "date", "nothing"])
    func `Complaint 19: refreshing refreshes, whatever the server's headers say of freshness`(
        validator: String
    ) async throws {
        let (publisher, directory) = (try Publisher(), TemporaryDirectory())
        let dates = ["Mon, 01 Jan 2024 00:00:00 GMT", "Tue, 02 Jan 2024 00:00:00 GMT"]
        func publish(_ fixture: String, _ version: Int) throws {
            switch validator {
            case "etag": try publisher.publish(fixture, tag: "\"\(version)\"", date: dates[0])
            case "date": try publisher.publish(fixture, date: dates[version])
            default: try publisher.publish(fixture)
            }
        }
        func manager() -> WebImageManager {
            WebImageManager(
                cache: ImageCache(path: directory.path("cache"), config: ImageCacheConfig(), clock: .system),
                loader: WebImageDownloader(config: .impatient),
                pipeline: Pipeline()
            )
        }
        let url = publisher.server.url("/a.jpg")
        var current = manager()
        func load(_ options: WebImageOptions) async throws -> Int {
            let result = try await current.result(with: url, options: options.union(.waitStoreCache))
            #expect(result.refreshError == nil)
            await (current.imageCache as? ImageCache)?.flush()
            return result.image.pixelWidth
        }
        try publish("JPEG/baseline-420.jpg", 0)
        #expect(try await load([]) == 61)
        try publish("JPEG/photo.jpg", 1)
        #expect(try await load([]) == 61, "cached is cached")
        #expect(publisher.server.requestCount() == 1)
        #expect(try await load(.refreshCached) == 480)
        #expect(try await load([]) == 480, "and stays")
        #expect(publisher.server.requestCount() == 2)
        // A new process, with nothing in memory, has the validators.
        current = manager()
        #expect(try await load(.refreshCached) == 480)
        let asked = try #require(publisher.server.requests.last)
        #expect(asked.header("If-None-Match") == (validator == "etag" ? "\"1\"" : nil))
        #expect(asked.header("If-Modified-Since") == ["etag": dates[0], "date": dates[1]][validator])
        try publish("JPEG/baseline-420.jpg", 0)
        #expect(try await load(.refreshCached) == 61)
        current = manager()
        #expect(try await load(.fromCacheOnly) == 61)
        #expect(publisher.server.requestCount() == 4)
    }

    @Test func `Complaint 20: a URL that was offline loads when it is back`() async throws {
        let picture = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let troubles: [LoopbackResponse] = [
            .closeWithoutAnswer, .reset, .silence, .truncated(Array(picture.prefix(99)), declared: picture.count),
            .response(503), .response(404), .response(403), .raw("nonsense\r\n\r\n"),
        ]
        let number = Lock(0)
        let harness = try EndToEndHarness { _ in
            let current = number.withLock { $0 }
            return current < troubles.count ? troubles[current] : .response(body: picture)
        }
        for current in troubles.indices {
            number.withLock { $0 = current }
            #expect(await harness.error("/a.jpg") != nil, "\(current)")
            #expect(!harness.manager.isFailed(harness.server.url("/a.jpg")), "\(current)")
        }
        number.withLock { $0 = troubles.count }
        #expect(await harness.error("/a.jpg") == nil)

        // A host that is not found, and one without a listener.
        for url in ["http://no-such-host.invalid/a.jpg", "http://127.0.0.1:1/a.jpg"].compactMap(URL.init(string:)) {
            #expect(await harness.error(url) != nil && !harness.manager.isFailed(url))
        }
        // A file that is created later.
        let file = URL(filePath: harness.directory.path("late.jpg"))
        #expect(await harness.error(file) != nil && !harness.manager.isFailed(file))
        try Data(picture).write(to: file)
        #expect(await harness.error(file) == nil)
        // A loader that is added later.
        let loaders = ImageLoadersManager(loaders: [])
        let manager = WebImageManager(cache: FakeCache(), loader: loaders, pipeline: Pipeline())
        let url = harness.server.url("/b.jpg")
        await #expect(throws: WebImageError.self) { try await manager.image(with: url) }
        loaders.add(harness.downloader)
        #expect(try await manager.image(with: url).pixelWidth == 61)
    }

    @Test func `Complaint 22: a truncated body is an error and not in the cache`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/photo.jpg"))
        for count in [0, 1, 2, 700, body.count / 2, body.count - 1] {
            let cut = Array(body.prefix(count))
            var answers: [LoopbackResponse] = [.truncated(cut, declared: body.count), .truncatedChunked(cut)]
            // The server itself has half an image, with a correct length. Without the last marker it is whole.
            if count < body.count - 1 { answers += [.response(body: cut), .chunked([cut])] }
            for answer in answers {
                let isMended = Lock(false)
                let harness = try EndToEndHarness { _ in
                    isMended.withLock { $0 } ? .response(body: body) : answer
                }
                let url = harness.server.url("/a.jpg")
                for options in [WebImageOptions(), .refreshCached] {
                    #expect(await harness.error(url, options: options.union(.retryFailed)) != nil, "\(count)")
                }
                await harness.cache.flush()
                let key = url.absoluteString
                #expect(harness.cache.memoryImage(forKey: key) == nil && harness.cache.totalDiskCount == 0, "\(count)")
                isMended.withLock { $0 = true }
                let image = try await harness.manager.image(with: url, options: [.retryFailed, .waitStoreCache])
                #expect(image.pixelWidth == 480)
                // The cached image stays when a newer one is truncated.
                isMended.withLock { $0 = false }
                let refreshed = try await harness.manager.result(with: url, options: .refreshCached)
                #expect(refreshed.refreshError != nil && refreshed.image.pixelWidth == 480)
                await harness.cache.flush()
                #expect(await harness.cache.diskData(forKey: key) == Data(body))
            }
        }
    }
}
