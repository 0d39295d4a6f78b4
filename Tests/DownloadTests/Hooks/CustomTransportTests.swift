import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// A custom transport: only public interfaces are used here.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct CustomTransportTests {
    /// Responds from a table, before `start` returns.
    private final class TableTransport: HTTPTransport {
        private final class Transfer: HTTPTransfer {
            func cancel() {}
        }

        let table: [String: Data]
        let starts = Monitor<[HTTPTransferRequest]>([])

        init(_ table: [String: Data]) { self.table = table }

        func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
            starts.withLock { $0.append(request) }
            let data = table[request.url.path()]
            let response = HTTPResponse(url: request.url, statusCode: data == nil ? 404 : 200)
            var error = sink.didReceive(response)
            if error == nil, let data { error = data.withUnsafeBytes { sink.didReceive($0) } }
            sink.didFinish(error, metrics: DownloadMetrics())
            return Transfer()
        }

        func invalidate() {}
    }

    /// Forwards everything to the library's own transport.
    private final class CountingTransport: HTTPTransport {
        let starts = Monitor(0)
        private let next = CurlTransport()

        func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
            starts.withLock { $0 += 1 }
            return next.start(request, sink: sink)
        }

        func invalidate() { next.invalidate() }
    }

    private func manager(_ downloader: WebImageDownloader, in directory: TemporaryDirectory) -> WebImageManager {
        WebImageManager(cache: ImageCache(directory: directory.path("cache")), loader: downloader)
    }

    private func url(_ path: String) -> URL { URL(string: "https://table.test\(path)") ?? URL(filePath: "/") }

    @Test(.timeLimit(.minutes(10))) func `A custom transport works with the manager, and callers share it`()
        async throws
    {
        let transport = TableTransport(["/a": try Fixtures.data("JPEG/baseline-420.jpg")])
        let downloader = WebImageDownloader(transport: transport)
        let directory = TemporaryDirectory()
        let manager = manager(downloader, in: directory)
        downloader.isSuspended = true
        async let first = manager.image(with: url("/a"))
        async let second = manager.image(with: url("/a"))
        await wait(while: downloader.currentDownloadCount == 0)
        downloader.isSuspended = false
        let results = try await [first, second]
        #expect(results.allSatisfy { $0.pixelWidth > 0 })
        #expect(transport.starts.withLock { $0.count } == 1)
        let missing = url("/missing")
        await #expect(throws: WebImageError(.invalidDownloadStatusCode, "", url: missing, statusCode: 404)) {
            try await manager.image(with: missing)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A transport that responds before it returns may do so any number of times in a row`() async throws {
        let transport = TableTransport(["/a": Data([1])])
        let downloader = WebImageDownloader(transport: transport)
        downloader.isSuspended = true
        let ends = Monitor(0)
        let count = TestEffort.rounds(20_000)
        for number in 0..<count {
            downloader.downloadData(with: url("/a?\(number)"), callbackQueue: .inline) { result in
                if (try? result.get().data) == Data([1]) { ends.withLock { $0 += 1 } }
            }
        }
        downloader.isSuspended = false
        let all = await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: ends.wait(seconds: 300) { $0 == count ? true : nil }) }
        }
        #expect(all == true)
    }

    @Test(.timeLimit(.minutes(10))) func `A transport may forward requests to the library's own`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1, 2, 3]) }
        let transport = CountingTransport()
        let downloader = WebImageDownloader(transport: transport)
        #expect(try await downloader.downloadData(with: server.url("/a")).data == Data([1, 2, 3]))
        #expect(transport.starts.withLock { $0 } == 1 && server.requestCount() == 1)
    }
}
