import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageModel

/// Resumed downloads with hooks, redirects and previews.
@Suite struct ResumeHookTests {
    private let harness = ResumeHarness()
    private let image = noise(65_536)

    private func interrupt(_ change: (inout ImageLoadRequest) -> Void = { _ in }) {
        let transfer = harness.start(Recorder(), change)
        transfer?.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        transfer?.send(Array(image[..<30_000]))
        transfer?.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
    }

    @Test func `A decryptor gets the whole body, and the part is kept as received`() async throws {
        let seen = Lock(Data())
        let decryptor = DownloadDecryptor { data, _ in
            seen.withLock { $0 = data }
            return Data(data.reversed())
        }
        let change: (inout ImageLoadRequest) -> Void = { request in
            var context = WebImageContext()
            context.downloadDecryptor = decryptor
            request.context = context
        }
        interrupt(change)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder, change))
        #expect(transfer.request.headers["Range"] == "bytes=25904-")
        transfer.sendRest(of: image, from: 25_904)
        await recorder.end()
        #expect([UInt8](seen.withLock { $0 }) == image)
        #expect(recorder.data.map { [UInt8]($0) } == image.reversed())
    }

    @Test func `A response modifier gets the response for the whole`() throws {
        interrupt()
        let seen = Lock<[HTTPResponse]>([])
        harness.downloader.responseModifier = DownloadResponseModifier { response in
            seen.withLock { $0.append(response) }
            return response
        }
        let recorder = Recorder()
        harness.start(recorder)?.sendRest(of: image, from: 25_904)
        #expect(recorder.data?.count == 65_536)
        let response = try #require(seen.withLock { $0.first })
        #expect(response.statusCode == 200 && response.headers["Content-Range"] == nil)
    }

    @Test func `A request modifier does not see the range, and may change which part is used`() throws {
        interrupt()
        let seen = Lock<[DownloadRequest]>([])
        harness.downloader.requestModifier = DownloadRequestModifier { request in
            seen.withLock { $0.append(request) }
            return request
        }
        let plain = try #require(harness.start())
        #expect(plain.request.headers["Range"] != nil)
        #expect(seen.withLock { $0.first?.headers["Range"] } == nil)
        harness.downloader.requestModifier = DownloadRequestModifier { request in
            var request = request
            request.headers["Authorization"] = "Bearer x"
            return request
        }
        #expect(harness.start()?.request.headers["Range"] == nil)
    }

    @Test func `A redirect keeps the range`() throws {
        harness.downloader.redirectHandler = DownloadRedirectHandler { _, next in .follow(next) }
        interrupt()
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        first.end(first.respond(302, headers: ["Location": "/b.jpg"]))
        let second = try #require(harness.transport.transfers(from: 2).first)
        #expect(second.request.url == testURL("/b.jpg"))
        #expect(second.request.headers["Range"] == "bytes=25904-")
        second.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    @Test func `An interruption behind a redirect is kept for the first URL`() throws {
        harness.downloader.redirectHandler = DownloadRedirectHandler { _, next in .follow(next) }
        let first = try #require(harness.start())
        first.end(first.respond(302, headers: ["Location": "/b.jpg"]))
        let second = try #require(harness.transport.transfers(from: 1).first)
        second.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        second.send(Array(image[..<30_000]))
        second.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
        let third = try #require(harness.start())
        #expect(third.request.url == testURL("/a.jpg") && third.request.headers["Range"] == "bytes=25904-")
    }

    @Test func `Time spent on a refused partial response counts`() throws {
        harness.downloader.config.totalTimeout = 10
        interrupt()
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        var metrics = DownloadMetrics()
        metrics.total = 4
        first.sink.didFinish(first.respond(416), metrics: metrics)
        let second = try #require(harness.transport.transfers(from: 2).first)
        #expect(second.request.totalTimeout == 6)
        second.complete(image)
        let loaded = try recorder.results[0].get()
        #expect(loaded.metrics?.total == 4 && loaded.metrics?.redirectCount == 0)
    }

    // MARK: Previews

    private final class Previews: Sendable {
        private let log = Lock<[PartialImageData.Snapshot]>([])
        var snapshots: [PartialImageData.Snapshot] { log.withLock { $0 } }
        var place: PartialImageData {
            PartialImageData(isWanted: { true }, receive: { snapshot in self.log.withLock { $0.append(snapshot) } })
        }
    }

    @Test func `Previews show the part before the server responds`() throws {
        interrupt()
        let previews = Previews()
        let transfer = try #require(harness.start { $0.partialData = previews.place })
        let first = try #require(previews.snapshots.last)
        #expect([UInt8](first.data) == Array(image[..<30_000]) && first.expectedByteCount == 65_536)
        transfer.respond(206, headers: ["ETag": "\"one\"", "Content-Range": "bytes 25904-65535/65536"])
        transfer.send(Array(image[25_904..<40_000]))
        let second = try #require(previews.snapshots.last)
        #expect([UInt8](second.data) == Array(image[..<40_000]))
        #expect(second.attempt == first.attempt, "it is the same image that continues")
    }

    @Test func `Previews start again if the whole is sent instead`() throws {
        interrupt()
        let previews = Previews()
        let transfer = try #require(harness.start { $0.partialData = previews.place })
        let first = try #require(previews.snapshots.last)
        transfer.respond(headers: ["Content-Length": "65536", "ETag": "\"two\""])
        transfer.send(Array(image[..<100]))
        let last = try #require(previews.snapshots.last)
        #expect(last.attempt != first.attempt && last.data.count == 100)
        #expect(previews.snapshots.contains { $0.data.isEmpty && $0.attempt == last.attempt })
    }

    @Test func `Downloads to be decrypted have no previews`() {
        let decryptor = DownloadDecryptor.base64
        let change: (inout ImageLoadRequest) -> Void = { request in
            var context = WebImageContext()
            context.downloadDecryptor = decryptor
            request.context = context
        }
        interrupt(change)
        let previews = Previews()
        let transfer = harness.start { request in
            change(&request)
            request.partialData = previews.place
        }
        #expect(transfer?.request.headers["Range"] != nil)
        #expect(previews.snapshots.allSatisfy { $0.data.isEmpty })
    }
}
