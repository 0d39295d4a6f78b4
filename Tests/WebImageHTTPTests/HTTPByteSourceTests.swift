import FoundationEssentials
import HTTPTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP

/// Videos whose parts are requested, from servers with and without faults.
@Suite(.tags(.threadSanitizer)) struct HTTPByteSourceTests {
    /// Serves bytes that begin like a video, at once and on the thread that asks.
    private final class Server: HTTPTransport {
        private final class Running: HTTPTransfer {
            func cancel() {}
        }

        let data: Data
        let ranges = Lock<[String]>([])
        private let change: @Sendable (Int, inout HTTPResponse, inout Data) -> Void

        /// - Parameter change: Changes the response and the body of a request, counted from 0.
        init(_ data: Data, _ change: @escaping @Sendable (Int, inout HTTPResponse, inout Data) -> Void = { _, _, _ in })
        {
            (self.data, self.change) = (data, change)
        }

        func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
            let number = ranges.withLock { ranges in
                ranges.append(request.headers["Range"] ?? "")
                return ranges.count - 1
            }
            let numbers = (request.headers["Range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
            var body = data
            var response = HTTPResponse(url: request.url, statusCode: 200, headers: ["ETag": "\"a\""])
            if numbers.count == 2 {
                let range = numbers[0]..<min(numbers[1] + 1, data.count)
                body = Data(data[range])
                response.statusCode = 206
                response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)"
            }
            change(number, &response, &body)
            if response.headers["Content-Length"] == nil { response.headers["Content-Length"] = "\(body.count)" }
            var error = sink.didReceive(response)
            if error == nil { error = body.withUnsafeBytes { sink.didReceive($0) } }
            sink.didFinish(error, metrics: DownloadMetrics())
            return Running()
        }

        func invalidate() {}
    }

    /// A megabyte and a half that begins like MP4.
    private static let film = Data([0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 0] + pattern(1_499_984))

    private func source(
        _ server: Server,
        _ configure: (inout WebImageDownloaderConfig) -> Void = { _ in }
    ) async throws -> any ImageByteSource {
        var config = WebImageDownloaderConfig()
        configure(&config)
        let core = DownloaderCore(config: config, transport: server)
        var request = ImageLoadRequest(url: try #require(URL(string: "http://h/film.mp4")))
        request.readsParts = true
        let result: Result<LoadedImageData, WebImageError> = await awaitOperation { [request] completion in
            core.load(request, progress: { _ in }, completion: completion)
        }
        return try #require(try result.get().byteSource)
    }

    private func read(_ source: any ImageByteSource, at offset: Int, _ count: Int) async throws -> Data {
        try await valueOnThread { () -> Result<Data, WebImageError> in
            do throws(WebImageError) {
                return .success(try source.read(at: offset, count: count))
            } catch { return .failure(error) }
        }.get()
    }

    @Test func `Bytes are those of the file, and requested once`() async throws {
        let server = Server(Self.film)
        let source = try await source(server)
        #expect(source.byteCount == Self.film.count && source.beginning == Self.film.prefix(4096))
        for range in [0..<100, 1_400_000..<1_500_000, 50_000..<70_000, 1_399_000..<1_410_000, 0..<1_500_000] {
            #expect(try await read(source, at: range.lowerBound, range.count) == Self.film[range])
        }
        #expect(try await read(source, at: 1_499_990, 100).count == 10)
        #expect(try await read(source, at: 1_500_000, 100).isEmpty)
        let requested = server.ranges.withLock { $0 }
        let parts = requested.map { $0.dropFirst(6).split(separator: "-").compactMap { Int($0) } }
        #expect(parts.first == [0, 65_535] && parts.allSatisfy { $0.count == 2 })
        // No byte twice, up to the end of the file.
        let total = parts.reduce(0) { $0 + min($1[1], 1_499_999) - $1[0] + 1 }
        #expect(total == Self.film.count)
    }

    @Test func `A reader that goes on gets longer parts`() async throws {
        let server = Server(Self.film)
        _ = try await read(source(server), at: 0, 1_500_000)
        #expect(server.ranges.withLock { $0.count } == 5)
    }

    @Test func `The bytes of all parts are limited`() async throws {
        let server = Server(Self.film)
        let source = try await source(server) { $0.maximumVideoByteCount = 200_000 }
        #expect(try await read(source, at: 100_000, 65_536).count == 65_536)
        let error = await #expect(throws: WebImageError.self) { try await read(source, at: 300_000, 500_000) }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumVideoByteCount")
        let parts = server.ranges.withLock { $0 }.map { $0.dropFirst(6).split(separator: "-").compactMap { Int($0) } }
        #expect(parts.reduce(0) { $0 + $1[1] - $1[0] + 1 } == 200_000)
    }

    @Test func `A limit below the first part shortens it`() async throws {
        let source = try await source(Server(Self.film)) { $0.maximumVideoByteCount = 1000 }
        #expect(try await read(source, at: 0, 1000) == Self.film.prefix(1000) && source.byteCount == Self.film.count)
    }

    private static let faults: [String: @Sendable (inout HTTPResponse, inout Data) -> Void] = [
        "another entity tag": { response, _ in response.headers["ETag"] = "\"b\"" },
        "no entity tag": { response, _ in response.headers["ETag"] = nil },
        "another length": { response, _ in
            response.headers["Content-Range"] = response.headers["Content-Range"]?.replacing(
                "/1500000",
                with: "/1500001"
            )
        },
        "another part": { response, _ in response.headers["Content-Range"] = "bytes 5-65540/1500000" },
        "no range": { response, _ in response.headers["Content-Range"] = nil },
        "a whole file": { response, body in (response.statusCode, body) = (200, film) },
        "fewer bytes": { _, body in body = Data(body.dropLast(9)) },
        "more bytes": { _, body in body += [1, 2, 3] },
        "a content coding": { response, _ in response.headers["Content-Encoding"] = "br" },
        "several parts": { response, _ in response.headers["Content-Type"] = "multipart/byteranges" },
        "an error page": { response, _ in response.statusCode = 404 },
    ]

    @Test(arguments: faults.keys.sorted())
    func `A part of another version or shape is an error, not a mix`(name: String) async throws {
        let fault = try #require(Self.faults[name])
        let source = try await source(Server(Self.film) { if $0 > 0 { fault(&$1, &$2) } })
        let error = await #expect(throws: WebImageError.self) { try await read(source, at: 1_000_000, 10) }
        let codes: [WebImageError.Code] = [.invalidDownloadResponse, .invalidDownloadStatusCode, .limitExceeded]
        #expect(error.map { codes.contains($0.code) } == true, "\(error as Any)")
    }

    @Test func `From a server without ranges the beginning is taken, and no more`() async throws {
        let server = Server(Self.film) { _, response, body in
            (response.statusCode, response.headers["Content-Range"]) = (200, nil)
            body = Self.film
        }
        let source = try await source(server) { $0.maximumVideoByteCount = 100_000 }
        #expect(source.byteCount == 1_500_000)
        #expect(try await read(source, at: 90_000, 10_000) == Self.film[90_000..<100_000])
        let error = await #expect(throws: WebImageError.self) { try await read(source, at: 100_000, 1) }
        #expect(error?.code == .limitExceeded && server.ranges.withLock { $0.count } == 1)
        let whole = try await self.source(server)
        #expect(try await read(whole, at: 0, 2_000_000) == Self.film)
    }

    // MARK: Waiting for a part

    /// A video whose first part has come, and whose others wait for the test.
    private struct SlowFilm {
        let transport = FakeTransport()
        let clock = ManualClock()
        let source: any ImageByteSource

        init(_ configure: (inout WebImageDownloaderConfig) -> Void = { _ in }) async throws {
            var config = WebImageDownloaderConfig()
            configure(&config)
            let core = DownloaderCore(config: config, transport: transport, clock: clock.source)
            var request = ImageLoadRequest(url: try #require(URL(string: "http://h/film.mp4")))
            request.readsParts = true
            let recorder = Recorder()
            _ = core.load(request, progress: recorder.onProgress, completion: recorder.onEnd)
            Self.answer(await transport.firstTransfer(), 0)
            await recorder.end()
            source = try #require(try recorder.results.first?.get().byteSource)
            transport.forgetTransfers()
        }

        /// Sends the bytes of a part.
        static func answer(_ transfer: FakeTransport.Transfer, _ offset: Int, _ count: Int = 65_536) {
            let range = offset..<offset + count
            let headers: HTTPHeaders = [
                "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(film.count)",
                "Content-Length": "\(count)", "ETag": "\"a\"",
            ]
            transfer.respond(206, headers: headers)
            transfer.end(transfer.send(Array(film[range])))
        }

        /// Reads eight bytes on a thread.
        func read(at offset: Int, while isWanted: @escaping @Sendable () -> Bool = { true }) -> Task<
            Result<Data, WebImageError>, Never
        > {
            Task { [source] in
                await valueOnThread {
                    var bytes = [UInt8](repeating: 0, count: 8)
                    return Result { () throws(WebImageError) in
                        var error: WebImageError?
                        let count = bytes.withUnsafeMutableBytes { buffer in
                            do throws(WebImageError) {
                                return try source.read(at: offset, into: buffer, while: isWanted)
                            } catch let problem {
                                error = problem
                                return 0
                            }
                        }
                        if let error { throw error }
                        return Data(bytes.prefix(count))
                    }
                }
            }
        }
    }

    @Test func `A part that nobody wants any more is cancelled, and can be requested again`() async throws {
        let slow = try await SlowFilm()
        let isWanted = Lock(true)
        let read = slow.read(at: 1_000_000) { isWanted.withLock { $0 } }
        let transfer = await slow.transport.firstTransfer()
        #expect(!transfer.isCancelled)
        isWanted.withLock { $0 = false }
        await #expect(throws: WebImageError.self) { try await read.value.get() }
        #expect(transfer.isCancelled)
        slow.transport.forgetTransfers()
        let again = slow.read(at: 1_000_000)
        SlowFilm.answer(await slow.transport.firstTransfer(), 1_000_000)
        #expect(try await again.value.get() == Self.film[1_000_000..<1_000_008])
        // What is there is read without a transfer, and nothing for those who want nothing.
        #expect(try await slow.read(at: 1_000_100).value.get() == Self.film[1_000_100..<1_000_108])
        await #expect(throws: WebImageError.self) { try await slow.read(at: 1_000_100, while: { false }).value.get() }
        #expect(slow.transport.transfers.count == 1)
    }

    @Test func `Two readers wait for one part, and one of them can leave`() async throws {
        let slow = try await SlowFilm()
        let first = slow.read(at: 1_000_000)
        let transfer = await slow.transport.firstTransfer()
        let looks = EventCounter()
        let isWanted = Lock(true)
        let second = slow.read(at: 1_000_000) {
            looks.signal()
            return isWanted.withLock { $0 }
        }
        await looks.wait(for: 2)
        isWanted.withLock { $0 = false }
        await #expect(throws: WebImageError.self) { try await second.value.get() }
        #expect(!transfer.isCancelled && slow.transport.transfers.count == 1)
        SlowFilm.answer(transfer, 1_000_000)
        #expect(try await first.value.get() == Self.film[1_000_000..<1_000_008])
    }

    @Test func `The time limit of a download holds for all parts together, but not for the time between them`()
        async throws
    {
        let slow = try await SlowFilm { $0.totalTimeout = 10 }
        let first = slow.read(at: 1_000_000)
        let transfer = await slow.transport.firstTransfer()
        slow.clock.advance(6)
        SlowFilm.answer(transfer, 1_000_000)
        #expect(try await first.value.get().count == 8)
        slow.clock.advance(100)
        slow.transport.forgetTransfers()
        let second = slow.read(at: 500_000)
        let late = await slow.transport.firstTransfer()
        slow.clock.advance(4)
        var error = await #expect(throws: WebImageError.self) { try await second.value.get() }
        #expect(error?.code == .timedOut && late.isCancelled)
        slow.transport.forgetTransfers()
        error = await #expect(throws: WebImageError.self) { try await slow.read(at: 500_000).value.get() }
        #expect(error?.code == .timedOut && slow.transport.transfers.isEmpty)
        #expect(try await slow.read(at: 1_000_000).value.get().count == 8)
    }

    @Test func `The bytes that are there count as undecoded`() async throws {
        #expect(try await SlowFilm().source.heldByteCount == 65_536)
        let whole = Server(Self.film) { _, response, body in
            (response.statusCode, response.headers["Content-Range"], body) = (200, nil, Self.film)
        }
        #expect(try await source(whole).heldByteCount == Self.film.count)
    }
}
