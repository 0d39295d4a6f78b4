import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@Suite(.tags(.threadSanitizer)) struct DataURLTests {
    private func parse(_ text: String, limit: Int = 1000) throws(WebImageError) -> String {
        String(decoding: try DataURL(text, limit: limit).data, as: UTF8.self)
    }

    @Test(arguments: [
        ("data:,hello", "hello"),
        ("data:,A%20brief%20note", "A brief note"),
        ("data:text/plain;charset=utf-8,a,b", "a,b"),
        ("DATA:image/png;BASE64,aGVsbG8=", "hello"),
        ("data:;base64,aGVsbG8", "hello"),
        ("data:;base64,aGVs%62G8%3D", "hello"),
        ("data:;base64, aG Vs\n bG8= ", "hello"),
        ("data:;base64,aGVsbG8h", "hello!"),
        ("data:;base64,aGk", "hi"),
        ("data:;base64,aA", "h"),
        ("data:image/svg+xml,%3Csvg%3E#part", "<svg>"),
        ("data:,100%", "100%"),
        ("data:,%zz%4", "%zz%4"),
        ("data:image/png; base64 ,aGk=", "hi"),
        ("data:,", ""),
    ])
    func `The data are decoded`(example: (String, String)) throws {
        #expect(try parse(example.0) == example.1)
    }

    @Test func `The media type is the written one, or plain text`() throws {
        #expect(try DataURL("data:Image/PNG;base64,", limit: 10).mediaType == "image/png")
        #expect(try DataURL("data:,", limit: 10).mediaType == "text/plain;charset=us-ascii")
    }

    @Test(arguments: ["data:", "data:image/png;base64", "date:,x", "", "dat"])
    func `A malformed data URL is invalid`(text: String) {
        #expect(throws: WebImageError(.invalidURL, "")) { try parse(text) }
    }

    @Test(arguments: [
        "data:;base64,a", "data:;base64,a*b=", "data:;base64,aGk=aGk=", "data:;base64,====", "data:;base64,aaaaa",
    ])
    func `Invalid base64 is bad image data`(text: String) {
        #expect(throws: WebImageError(.badImageData, "")) { try parse(text) }
    }

    @Test func `Data above the limit is refused before it is decoded`() throws {
        let text = "data:;base64," + String(repeating: "AAAA", count: 1000)
        #expect(try DataURL(text, limit: 3000).data.count == 3000)
        do throws(WebImageError) {
            _ = try DataURL(text, limit: 2999)
            Issue.record("not refused")
        } catch {
            #expect(error.limit == .init(name: "maximumDataURLByteCount", allowed: 2999, required: 3000))
        }
        #expect(try DataURL("data:," + String(repeating: "%41", count: 100), limit: 100).data.count == 100)
    }

    @Test(arguments: [
        // Percent signs that begin no escape are literal.
        ("data:,%%%%%%", 6), ("data:,%4%41%zz%", 7), ("data:,%4", 2),
        // The last characters of base64 without padding count, too.
        ("data:;base64,AAAAAA", 4), ("data:;base64,AAAAAAA", 5), ("data:;base64,AAA=", 2), ("data:;base64,AA", 1),
    ])
    func `No text decodes to more bytes than the limit, and none that fits is refused`(text: String, count: Int) throws
    {
        #expect(try DataURL(text, limit: count).data.count == count)
        do throws(WebImageError) {
            _ = try DataURL(text, limit: count - 1)
            Issue.record("not refused")
        } catch {
            #expect(error.limit?.name == "maximumDataURLByteCount")
            #expect(error.limit?.allowed == Int64(count - 1) && error.limit?.required == Int64(count))
        }
    }

    @Test func `Random text never traps`() {
        let alphabet = Array("data:;base64,=%#A/+\n é0".unicodeScalars)
        for _ in 0..<20_000 {
            var text = "data:"
            for _ in 0..<Int.random(in: 0..<24) { text.unicodeScalars.append(alphabet.randomElement() ?? "a") }
            _ = try? DataURL(text, limit: 16)
        }
    }

    @Test func `The loader delivers the data once`() async throws {
        let recorder = Recorder()
        let url = try #require(URL(string: "data:image/png;base64,aGVsbG8="))
        let loader = DataURLImageLoader()
        #expect(loader.canLoad(url, options: []))
        _ = loader.load(ImageLoadRequest(url: url), progress: recorder.onProgress, completion: recorder.onEnd)
        await recorder.end()
        #expect(recorder.data == Data("hello".utf8) && recorder.results.count == 1)
        let empty = Recorder()
        let emptyURL = try #require(URL(string: "data:image/png,"))
        _ = loader.load(ImageLoadRequest(url: emptyURL), progress: { _ in }, completion: empty.onEnd)
        await empty.end()
        #expect(empty.code == .badImageData && empty.error?.url == emptyURL)
    }
}

@Suite(.tags(.threadSanitizer)) struct ImageLoadersManagerTests {
    private func load(_ text: String, with manager: ImageLoadersManager = .shared) async throws -> Recorder {
        let recorder = Recorder()
        let url = try #require(URL(string: text))
        let operation = manager.load(
            ImageLoadRequest(url: url),
            progress: recorder.onProgress,
            completion: recorder.onEnd
        )
        await recorder.end()
        operation.setPriority(.high)
        operation.cancel()
        #expect(recorder.results.count == 1)
        return recorder
    }

    @Test func `One manager serves http, file and data`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let directory = TemporaryDirectory()
        try Data([2]).write(to: URL(filePath: directory.path("a")))
        #expect(try await load(server.url("/a").absoluteString).data == Data([1]))
        #expect(try await load("file://\(directory.path("a"))").data == Data([2]))
        #expect(try await load("data:,%03").data == Data([3]))
    }

    @Test func `A URL without a loader is invalid`() async throws {
        #expect(try await load("ftp://example.test/a").code == .invalidURL)
        #expect(try await load("nothing").code == .invalidURL)
        let url = try #require(URL(string: "ftp://example.test/a"))
        #expect(!ImageLoadersManager.shared.canLoad(url, options: []))
        #expect(!ImageLoadersManager.shared.shouldBlockFailedURL(url, error: WebImageError(.invalidURL, "")))
    }

    @Test func `The loader added last is asked first, and can be removed`() async throws {
        let transport = FakeTransport()
        let own = WebImageDownloader(config: .init(), transport: transport)
        let manager = ImageLoadersManager()
        manager.add(own)
        let url = testURL("/a")
        let recorder = Recorder()
        _ = manager.load(ImageLoadRequest(url: url), progress: { _ in }, completion: recorder.onEnd)
        transport.transfers.first?.complete([9])
        #expect(recorder.data == Data([9]))
        #expect(manager.shouldBlockFailedURL(url, error: WebImageError(.badImageData, "")))
        manager.remove(own)
        #expect(manager.loaders.count == ImageLoadersManager.builtIn.count)
        manager.loaders = []
        #expect(!manager.canLoad(url, options: []))
    }
}
