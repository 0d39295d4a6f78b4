import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageModel

/// The ownership of a part while a download resumes, and the part after an early end.
@Suite struct ResumeClaimTests {
    private let harness = ResumeHarness()
    private let image = noise(65_536)

    private func rest(_ more: HTTPHeaders = [:]) -> HTTPHeaders {
        let headers: HTTPHeaders = ["ETag": "\"one\"", "Content-Range": "bytes 25904-65535/65536"]
        return headers.overlaid(with: more)
    }

    /// The part that a second process finds.
    private var kept: PartialDownload? {
        defer { harness.files.run() }
        return harness.files.claim(harness.request, in: harness.files.store())
    }

    // MARK: Cancellation

    @Test func `A download cancelled before the response returns the part at once`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let token = harness.downloader.start(testURL("/a.jpg"), Recorder())
        harness.files.run()
        let first = try #require(harness.transport.transfers(from: 1).first)
        token.cancel()
        let recorder = Recorder()
        let second = try #require(harness.start(recorder))
        #expect(second.request.headers["Range"] == "bytes=25904-")
        // The transport may not have noticed yet.
        first.respond(headers: ["Content-Length": "5"])
        first.send([1, 2, 3, 4, 5])
        first.end()
        harness.files.run()
        #expect(harness.files.sizes == [30_000], "that is not its business any more")
        second.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    @Test func `A download cancelled while the overlap is received returns the part unchanged`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let token = harness.downloader.start(testURL("/a.jpg"), Recorder())
        harness.files.run()
        let first = try #require(harness.transport.transfers(from: 1).first)
        first.respond(206, headers: rest())
        first.send(Array(image[25_904..<27_000]))
        token.cancel()
        harness.files.run()
        #expect(kept.map { [UInt8]($0.bytes) } == Array(image[..<30_000]))
        withExtendedLifetime(first) {}
    }

    @Test func `An accepted error response returns the part when it has ended`() throws {
        harness.downloader.config.acceptableStatusCodes = nil
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        transfer.respond(503)
        transfer.send([1, 2, 3])
        transfer.end()
        harness.files.run()
        #expect(recorder.data == Data([1, 2, 3]) && kept?.bytes.count == 30_000)
    }

    // MARK: Servers that forbid storing

    @Test(arguments: [true, false]) func `A no-store partial response removes the part`(isCancelled: Bool) throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let token = harness.downloader.start(testURL("/a.jpg"), Recorder())
        harness.files.run()
        let transfer = try #require(harness.transport.transfers(from: 1).first)
        #expect(transfer.respond(206, headers: rest(["Cache-Control": "no-store"])) == nil)
        transfer.send(Array(image[25_904..<50_000]))
        if isCancelled { token.cancel() } else { transfer.end(WebImageError(.networkConnectionLost, "gone")) }
        harness.files.run()
        #expect(harness.files.names.isEmpty)
    }

    @Test func `A no-store partial response completes the image, and retries do not start with it`() throws {
        let harness = ResumeHarness(usesStore: false) { $0.retryPolicy = .exact }
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        first.end(WebImageError(.networkConnectionLost, "gone"))
        harness.delays.advance(1)
        let second = harness.transport.transfers[1]
        #expect(second.request.headers["Range"] == "bytes=25904-")
        second.respond(206, headers: rest(["Cache-Control": "no-store"]))
        second.send(Array(image[25_904..<50_000]))
        second.end(WebImageError(.networkConnectionLost, "gone"))
        harness.delays.advance(2)
        let third = harness.transport.transfers[2]
        #expect(third.request.headers["Range"] == nil)
        third.complete(image)
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    // MARK: Secrets

    @Test func `Neither the URL nor a password in it is written to disk`() throws {
        let url = try #require(URL(string: "http://ann:secret@example.test/private.jpg"))
        let transfer = try #require(harness.start { $0.url = url })
        transfer.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        transfer.send(Array(image[..<30_000]))
        transfer.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
        let name = try #require(harness.files.names.first)
        let bytes = try #require(PartialStoreHarness.bytes(harness.files.filesPath + "/" + name))
        let head = String(decoding: bytes[30_000...], as: UTF8.self)
        for text in ["secret", "ann", "example.test", "private"] {
            #expect(!head.contains(text) && !name.contains(text))
        }
        #expect(harness.start { $0.url = url }?.request.headers["Range"] == "bytes=25904-")
    }

    @Test func `With cookies nothing is kept for others, and no preview is shown before the server responds`() throws {
        let snapshots = Lock(0)
        let place = PartialImageData(isWanted: { true }, receive: { _ in snapshots.withLock { $0 += 1 } })
        let change: (inout ImageLoadRequest) -> Void = { $0.options = .handleCookies }
        let first = try #require(harness.start(Recorder(), change))
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        #expect(harness.delays.asked.isEmpty, "there is no timer for it")
        first.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
        #expect(harness.files.names.isEmpty)
        // A part left by another version of the library.
        var request = harness.request
        request.handlesCookies = true
        harness.files.keep(Array(image[..<30_000]), request, total: 65_536, in: harness.store)
        let second = try #require(
            harness.start { request in
                change(&request)
                request.partialData = place
            }
        )
        #expect(second.request.headers["Range"] == nil && snapshots.withLock { $0 } == 0)
    }

    @Test func `A retry of the same download resumes with cookies, too`() throws {
        let harness = ResumeHarness { $0.retryPolicy = .exact }
        let snapshots = Lock<[Int]>([])
        let place = PartialImageData(
            isWanted: { true },
            receive: { snapshot in snapshots.withLock { $0.append(snapshot.data.count) } }
        )
        let recorder = Recorder()
        let first = try #require(
            harness.start(recorder) { request in
                request.options = .handleCookies
                request.partialData = place
            }
        )
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        first.end(WebImageError(.networkConnectionLost, "gone"))
        let before = snapshots.withLock { $0 }
        harness.delays.advance(1)
        let second = harness.transport.transfers[1]
        #expect(second.request.headers["Range"] == "bytes=25904-")
        #expect(snapshots.withLock { $0 } == before)
        second.respond(206, headers: rest())
        second.send(Array(image[25_904..<40_000]))
        #expect(snapshots.withLock { $0.last } == 40_000, "previews go on where they were")
        second.end(second.send(Array(image[40_000...])))
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    // MARK: Retries

    @Test func `A part survives an attempt delayed by the host's back-off`() throws {
        let harness = ResumeHarness(usesStore: false) {
            $0.retryPolicy = .exact
            $0.hostBackOff = .exact
        }
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        first.end(WebImageError(.networkConnectionLost, "gone"))
        let other = try #require(harness.start { $0.url = testURL("/b.jpg") })
        other.end(other.respond(503, headers: ["Retry-After": "5"]))
        harness.delays.advance(1)
        #expect(harness.transport.transfers.count == 2, "the host is not asked")
        harness.delays.advance(4.01)
        let later = harness.transport.transfers(from: 2)
        let third = later.first { $0.request.url == testURL("/a.jpg") }
        #expect(third?.request.headers["Range"] == "bytes=25904-")
        third?.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    @Test func `A partial response that is interrupted within the overlap leaves the part to the next attempt`() throws
    {
        let harness = ResumeHarness(usesStore: false) { $0.retryPolicy = .exact }
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        first.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        first.send(Array(image[..<30_000]))
        first.end(WebImageError(.networkConnectionLost, "gone"))
        harness.delays.advance(1)
        let second = harness.transport.transfers[1]
        second.respond(206, headers: rest())
        second.send(Array(image[25_904..<28_000]))
        second.end(WebImageError(.networkConnectionLost, "gone"))
        harness.delays.advance(2)
        let third = harness.transport.transfers[2]
        #expect(third.request.headers["Range"] == "bytes=25904-")
        third.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
    }

    // MARK: Memory and counts

    @Test func `A resumed body is in memory once, in one block`() throws {
        let byteCount = 6 << 20
        let bytes = [UInt8](repeating: 7, count: byteCount)
        harness.interrupt(Array(bytes[..<(5 << 20)]), total: byteCount)
        let recorder = Recorder()
        let sent = try #require(harness.start(recorder))
        let transfer = try #require(sent.sink as? DownloadTransfer)
        #expect(transfer.life.withLock { $0.body.capacity } == byteCount)
        let start = (5 << 20) - 4096
        let range = "bytes \(start)-\(byteCount - 1)/\(byteCount)"
        sent.respond(206, headers: ["ETag": "\"one\"", "Content-Range": range])
        #expect(transfer.part?.bytes.isEmpty == true && transfer.former == nil)
        sent.end(sent.send(Array(bytes[start...])))
        #expect(recorder.data == Data(bytes))
    }

    /// A partial response with other bytes, and then the whole.
    private func refusedRest(_ recorder: Recorder) throws -> (WebImageDownloadToken, FakeTransport.Transfer) {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let token = harness.downloader.start(testURL("/a.jpg"), recorder)
        harness.files.run()
        let first = try #require(harness.transport.transfers(from: 1).first)
        first.respond(206, headers: rest())
        var metrics = DownloadMetrics()
        metrics.receivedByteCount = 1000
        first.sink.didFinish(first.send(noise(1000, seed: 3)), metrics: metrics)
        let second = try #require(harness.transport.transfers(from: 2).first)
        #expect(second.request.headers["Range"] == nil)
        second.respond(headers: ["Content-Length": "65536"])
        return (token, second)
    }

    @Test func `A body that starts again counts from zero`() throws {
        let (token, transfer) = try refusedRest(Recorder())
        let before = harness.downloader.statistics.receivedByteCount
        transfer.send(Array(image[..<20_000]))
        token.cancel()
        #expect(harness.downloader.statistics.receivedByteCount - before == 20_000)
    }

    @Test func `Bytes of a refused partial response count as received`() throws {
        let recorder = Recorder()
        let (_, transfer) = try refusedRest(recorder)
        let before = harness.downloader.statistics.receivedByteCount
        var metrics = DownloadMetrics()
        metrics.receivedByteCount = 65_536
        transfer.sink.didFinish(transfer.send(image), metrics: metrics)
        let result = try #require(recorder.results.first)
        let loaded = try result.get()
        #expect(loaded.metrics?.receivedByteCount == 66_536 && loaded.metrics?.resumedByteCount == 0)
        #expect(harness.downloader.statistics.receivedByteCount - before == 66_536)
    }
}
