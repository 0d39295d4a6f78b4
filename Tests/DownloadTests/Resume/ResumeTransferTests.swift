import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// Downloads that resume an interrupted one, over a transport that the test drives.
@Suite(.tags(.threadSanitizer)) struct ResumeTransferTests {
    private let harness = ResumeHarness()
    private let image = noise(65_536)
    private static let others = noise(65_536, seed: 5)

    private var kept: PartialDownload? {
        defer { harness.files.run() }
        return harness.files.claim(harness.request, in: harness.files.store())
    }

    @Test func `Only the rest is requested, and the result is the whole`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        #expect(transfer.request.headers["Range"] == "bytes=25904-")
        #expect(transfer.request.headers["If-Range"] == "\"one\"")
        transfer.sendRest(of: image, from: 25_904)
        #expect(recorder.data.map { [UInt8]($0) } == image)
        let loaded = try recorder.results[0].get()
        #expect(loaded.metrics?.resumedByteCount == 30_000)
        #expect(loaded.response?.statusCode == 200 && loaded.response?.contentLength == 65_536)
        #expect(recorder.progress.first?.receivedByteCount == 30_000)
        #expect(recorder.progress.allSatisfy { $0.expectedByteCount == 65_536 })
        harness.files.run()
        #expect(harness.files.sizes.isEmpty, "nothing is kept of a complete body")
        #expect(harness.start()?.request.headers["Range"] == nil)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status = 206
        var headers: HTTPHeaders = [:]
        /// The bytes sent with it; empty when the head is refused.
        var bytes: [UInt8] = []
        /// A Boolean value that indicates whether the response has the part's tag, unless it has another.
        var isTagged = true
    }

    static let refusals: [Refusal] = [
        Refusal(testDescription: "416", status: 416, headers: ["Content-Range": "bytes */5"]),
        Refusal(testDescription: "a wrong start", headers: ["Content-Range": "bytes 25905-65535/65536"]),
        Refusal(testDescription: "another total", headers: ["Content-Range": "bytes 25904-65534/65535"]),
        Refusal(testDescription: "no range", headers: [:]),
        Refusal(
            testDescription: "no tag",
            headers: ["Content-Range": "bytes 25904-65535/65536"],
            isTagged: false
        ),
        Refusal(testDescription: "several parts", headers: ["Content-Type": "multipart/byteranges; boundary=x"]),
        Refusal(
            testDescription: "another version",
            headers: ["Content-Range": "bytes 25904-65535/65536", "ETag": "\"two\""]
        ),
        Refusal(
            testDescription: "a coding",
            headers: ["Content-Range": "bytes 25904-65535/65536", "Content-Encoding": "gzip"]
        ),
        Refusal(
            testDescription: "other bytes",
            headers: ["Content-Range": "bytes 25904-65535/65536"],
            bytes: Array(others[25_904...])
        ),
        Refusal(
            testDescription: "other bytes late in the overlap",
            headers: ["Content-Range": "bytes 25904-65535/65536"],
            bytes: Array(noise(65_536)[25_904..<29_999]) + [noise(65_536)[29_999] ^ 1]
        ),
        Refusal(
            testDescription: "too many bytes",
            headers: ["Content-Range": "bytes 25904-65535/65536"],
            bytes: Array(noise(65_536)[25_904...]) + [1]
        ),
    ]

    @Test(arguments: refusals) func `A mismatching response is refused, and the whole is requested`(refusal: Refusal)
        throws
    {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let first = try #require(harness.start(recorder))
        let tag: HTTPHeaders = refusal.isTagged ? ["ETag": "\"one\""] : [:]
        let error =
            first.respond(refusal.status, headers: tag.overlaid(with: refusal.headers))
            ?? refusal.bytes[..<min(1000, refusal.bytes.count)].withUnsafeBytes { first.sink.didReceive($0) }
            ?? first.send(Array(refusal.bytes.dropFirst(1000)))
        #expect(error != nil && recorder.results.isEmpty)
        first.end(error)
        let second = try #require(harness.transport.transfers(from: 2).first)
        #expect(second.request.headers["Range"] == nil && second.request.headers["If-Range"] == nil)
        second.complete(Self.others)
        #expect(recorder.data.map { [UInt8]($0) } == Self.others)
        #expect((try? recorder.results[0].get().metrics)?.resumedByteCount == 0)
        harness.files.run()
        #expect(harness.files.sizes.isEmpty)
    }

    @Test func `A response with the whole replaces the part`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        transfer.respond(headers: ["Content-Length": "65536", "ETag": "\"two\""])
        transfer.send(Array(Self.others[..<40_000]))
        transfer.end(WebImageError(.networkConnectionLost, "gone"))
        harness.files.run()
        #expect(recorder.code == .networkConnectionLost)
        #expect(kept.map { [UInt8]($0.bytes) } == Array(Self.others[..<40_000]), "and is kept itself")
    }

    @Test func `Received bytes of the rest are appended to the part`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        for end in [35_000, 50_000] {
            let transfer = try #require(harness.start())
            let start = (end == 35_000 ? 30_000 : 35_000) - 4096
            #expect(transfer.request.headers["Range"] == "bytes=\(start)-")
            transfer.respond(206, headers: ["ETag": "\"one\"", "Content-Range": "bytes \(start)-65535/65536"])
            transfer.send(Array(image[start..<end]))
            transfer.end(WebImageError(.timedOut, "late"))
            harness.files.run()
        }
        #expect(kept.map { [UInt8]($0.bytes) } == Array(image[..<50_000]))
    }

    @Test func `A partial response interrupted within the overlap changes nothing`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        transfer.respond(206, headers: ["ETag": "\"one\"", "Content-Range": "bytes 25904-65535/65536"])
        transfer.send(Array(image[25_904..<28_000]))
        transfer.end()
        harness.files.run()
        #expect(recorder.code == .networkConnectionLost)
        #expect(kept.map { [UInt8]($0.bytes) } == Array(image[..<30_000]))
    }

    @Test(arguments: [304, 401, 429, 503]) func `Responses that do not concern the part leave it`(status: Int) throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        transfer.end(transfer.respond(status))
        harness.files.run()
        #expect(recorder.error?.statusCode == status)
        #expect(kept?.bytes.count == 30_000)
    }

    @Test func `An accepted error page is not appended to the part`() throws {
        harness.downloader.config.acceptableStatusCodes = nil
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        transfer.respond(503)
        transfer.send([1, 2, 3])
        transfer.end()
        #expect(recorder.data == Data([1, 2, 3]))
    }

    @Test func `An image that the server no longer has removes its part`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let transfer = try #require(harness.start())
        transfer.end(transfer.respond(404))
        harness.files.run()
        #expect(harness.files.sizes.isEmpty)
    }

    @Test func `Small bodies, and those without a strong validator or with no-store, are not kept`() {
        harness.interrupt(Array(image[..<4095]), total: 65_536)
        harness.interrupt(Array(image[..<30_000]), total: 65_536, headers: ["ETag": "W/\"one\""])
        harness.interrupt(
            Array(image[..<30_000]),
            total: 65_536,
            headers: ["ETag": "\"one\"", "Cache-Control": "no-store"]
        )
        harness.interrupt(Array(image[..<30_000]), total: 65_536, asking: ["Range": "bytes=0-"])
        harness.interrupt(Array(image[..<30_000]), total: 65_536, asking: ["Cache-Control": "no-store"])
        #expect(harness.files.sizes.isEmpty)
        harness.interrupt(Array(image[..<4096]), total: 65_536)
        #expect(harness.files.sizes == [4096])
    }

    @Test func `Parts received with credentials are not used for others`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536, asking: ["Authorization": "Bearer one"])
        #expect(harness.start()?.request.headers["Range"] == nil)
        #expect(harness.start(headers: ["Authorization": "Bearer two"])?.request.headers["Range"] == nil)
        let file = try #require(harness.files.names.first)
        let bytes = try #require(PartialStoreHarness.bytes(harness.files.filesPath + "/" + file))
        #expect(!String(decoding: bytes[30_000...], as: UTF8.self).contains("Bearer"))
        #expect(harness.start(headers: ["Authorization": "Bearer one"])?.request.headers["Range"] == "bytes=25904-")
    }

    @Test func `A cancelled download keeps the received bytes`() throws {
        let recorder = Recorder()
        let token = harness.downloader.start(testURL("/a.jpg"), recorder)
        harness.files.run()
        let transfer = try #require(harness.transport.transfers.first)
        transfer.respond(headers: ["ETag": "\"one\"", "Content-Length": "65536"])
        transfer.send(Array(image[..<30_000]))
        token.cancel()
        // A transport may continue for a moment.
        transfer.send(Array(image[30_000..<31_000]))
        harness.files.run()
        #expect(recorder.code == .cancelled)
        #expect(kept?.bytes.count == 30_000)
    }

    @Test func `A download cancelled while its part is looked up ends, and the part stays`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let recorder = Recorder()
        let token = harness.downloader.start(testURL("/a.jpg"), recorder)
        token.cancel()
        harness.files.run()
        #expect(recorder.code == .cancelled && harness.transport.transfers.count == 1)
        #expect(kept?.bytes.count == 30_000)
    }

    @Test func `The limit of a body applies to the whole`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        harness.downloader.config.maximumResponseByteCount = 65_535
        let recorder = Recorder()
        let transfer = try #require(harness.start(recorder))
        let error = transfer.respond(206, headers: ["ETag": "\"one\"", "Content-Range": "bytes 25904-65535/65536"])
        #expect(error?.code == .limitExceeded)
        transfer.end(error)
        harness.files.run()
        #expect(recorder.code == .limitExceeded && harness.files.sizes.isEmpty, "the next would fare no better")
    }

    @Test func `Statistics count the transferred bytes`() throws {
        harness.interrupt(Array(image[..<30_000]), total: 65_536)
        let before = harness.downloader.statistics.receivedByteCount
        let recorder = Recorder()
        let token = harness.downloader.start(testURL("/a.jpg"), recorder)
        harness.files.run()
        let transfer = try #require(harness.transport.transfers(from: 1).first)
        transfer.respond(206, headers: ["ETag": "\"one\"", "Content-Range": "bytes 25904-65535/65536"])
        transfer.send(Array(image[25_904..<40_000]))
        token.cancel()
        #expect(harness.downloader.statistics.receivedByteCount - before == 10_000)
    }
}
