import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Received bytes of slow bodies are written to disk during the download; quick bodies cost nothing.
@Suite(.tags(.threadSanitizer)) struct SlowBodyTests {
    private let harness = ResumeHarness()
    private let image = noise(65_536)

    private func begin() throws -> FakeTransport.Transfer {
        let transfer = try #require(harness.start())
        transfer.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        return transfer
    }

    private func pass(_ seconds: Double) {
        harness.delays.advance(seconds)
        harness.files.run()
    }

    @Test func `Bytes received in the first half second are written, even if no more arrive`() throws {
        let transfer = try begin()
        transfer.send(Array(image[..<30_000]))
        pass(0.4)
        #expect(harness.files.sizes.isEmpty)
        pass(0.1)
        #expect(harness.files.sizes == [30_000])
        transfer.send(Array(image[30_000..<31_000]))
        #expect(harness.files.sizes == [30_000])
        pass(0.5)
        #expect(harness.files.sizes == [31_000])
    }

    @Test func `A long body is written again when much has been added`() throws {
        let transfer = try #require(harness.start())
        transfer.respond(headers: ["ETag": "\"one\"", "Content-Length": "\(4 << 20)"])
        transfer.send([UInt8](repeating: 1, count: 2 << 20))
        pass(0.5)
        #expect(harness.files.sizes == [2 << 20])
        transfer.send([UInt8](repeating: 2, count: 256 << 10))
        pass(0.5)
        #expect(harness.files.sizes == [2 << 20])
        transfer.send([3])
        pass(0.5)
        #expect(harness.files.sizes == [(2 << 20) + (256 << 10) + 1])
    }

    @Test func `A killed process leaves the last written part`() throws {
        let transfer = try begin()
        transfer.send(Array(image[..<30_000]))
        pass(0.5)
        transfer.send(Array(image[30_000..<60_000]))
        let file = try #require(harness.files.names.first)
        let bytes = try #require(PartialStoreHarness.bytes(harness.files.filesPath + "/" + file))
        let next = ResumeHarness()
        try FileManager.default.createDirectory(atPath: next.files.filesPath, withIntermediateDirectories: true)
        try PartialStoreHarness.write(bytes, to: next.files.filesPath + "/" + file)
        let recorder = Recorder()
        let rest = try #require(next.start(recorder))
        #expect(rest.request.headers["Range"] == "bytes=25904-")
        rest.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    @Test func `A body that begins late in an interval is written in the next`() throws {
        _ = try begin()
        pass(0.3)
        let late = try #require(harness.start { $0.url = testURL("/late.jpg") })
        late.respond(headers: ["ETag": "\"late\"", "Content-Length": "65536"])
        late.send(image.dropLast(1))
        pass(0.2)
        #expect(harness.files.sizes.isEmpty)
        pass(0.5)
        #expect(harness.files.sizes.count == 1)
    }

    @Test func `Quick downloads share one timer and write no file`() throws {
        for _ in 0..<50 {
            let transfer = try begin()
            transfer.end(transfer.send(image))
        }
        #expect(harness.delays.asked == [0.5] && harness.files.sizes.isEmpty)
        pass(0.5)
        #expect(harness.delays.count == 0, "the timer rests when there is nothing to look at")
        #expect(!FileManager.default.fileExists(atPath: harness.files.path))
        _ = try begin()
        #expect(harness.delays.count == 1)
    }

    @Test func `The timer runs while a body is being received`() throws {
        let transfer = try begin()
        transfer.send(image.dropLast(1))
        for _ in 0..<10 { pass(0.5) }
        #expect(harness.delays.count == 1 && harness.files.sizes == [65_535])
        transfer.end(transfer.send([image[65_535]]))
        harness.files.run()
        #expect(harness.files.sizes.isEmpty, "it is whole")
        pass(0.5)
        pass(0.5)
        #expect(harness.delays.count == 0)
    }

    @Test func `Without a store there is no timer`() throws {
        let harness = ResumeHarness(usesStore: false)
        let transfer = try #require(harness.start())
        transfer.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        transfer.send(Array(image[..<30_000]))
        #expect(harness.delays.asked.isEmpty)
    }

    @Test func `Slow bodies that must not be kept are not written`() throws {
        let transfer = try #require(harness.start())
        transfer.respond(headers: ["Content-Length": "65536"])
        transfer.send(Array(image[..<30_000]))
        pass(0.5)
        pass(0.5)
        #expect(harness.files.sizes.isEmpty && !FileManager.default.fileExists(atPath: harness.files.path))
    }

    @Test func `The timer does not retain the downloader`() throws {
        weak var core: DownloaderCore?
        let delays = ManualClock()
        do {
            let harness = ResumeHarness()
            let made = DownloaderCore(
                config: WebImageDownloaderConfig(),
                transport: harness.transport,
                clock: delays.source,
                delays: delays.delays,
                makePartials: { [store = harness.store] _, _, _ in store }
            )
            core = made
            let downloader = WebImageDownloader(core: made, pipeline: .prompt)
            downloader.start(testURL("/a.jpg"), Recorder())
            harness.files.run()
            harness.transport.transfers[0].complete(image)
            harness.transport.forgetTransfers()
        }
        #expect(delays.count == 1 && core == nil)
        delays.advance(1)
        #expect(delays.count == 0)
    }

    // MARK: Retries

    @Test(arguments: [true, false]) func `A retry resumes where the previous attempt was interrupted`(usesStore: Bool)
        throws
    {
        let harness = ResumeHarness(usesStore: usesStore) { $0.retryPolicy = .exact }
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        first.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
        #expect(harness.files.sizes.count == (usesStore ? 1 : 0), "a part is on disk while the download waits")
        harness.delays.advance(1)
        harness.files.run()
        let second = harness.transport.transfers[1]
        #expect(second.request.headers["Range"] == "bytes=25904-")
        // A response that does not concern the image.
        second.end(second.respond(503))
        harness.files.run()
        harness.delays.advance(2)
        harness.files.run()
        let third = harness.transport.transfers[2]
        #expect(third.request.headers["Range"] == "bytes=25904-")
        third.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
        let metrics = try recorder.results[0].get().metrics
        #expect(metrics?.attemptCount == 3 && metrics?.resumedByteCount == 30_000)
        harness.files.run()
        #expect(harness.files.sizes.isEmpty)
    }

    @Test func `A retry with other credentials starts from zero`() throws {
        let harness = ResumeHarness(usesStore: false) { $0.retryPolicy = .exact }
        harness.downloader.requestModifier = DownloadRequestModifier { request in
            var request = request
            request.headers["Authorization"] = "Bearer \(request.attempt)"
            return request
        }
        let first = try #require(harness.start())
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        first.end(WebImageError(.networkConnectionLost, "gone"))
        harness.delays.advance(1)
        #expect(harness.transport.transfers[1].request.headers["Range"] == nil)
    }
}
