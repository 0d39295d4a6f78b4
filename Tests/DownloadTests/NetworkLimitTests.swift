import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import TestSupport
import Testing
import WebImage

/// Excessive responses, without a policy.
@Suite(.timeLimit(.minutes(1))) struct NetworkLimitTests {
    private func error(_ response: LoopbackResponse, _ change: (inout WebImageDownloaderConfig) -> Void = { _ in })
        async throws -> WebImageError?
    {
        let server = try LoopbackServer { _ in response }
        var config = WebImageDownloaderConfig()
        change(&config)
        return await downloadError(WebImageDownloader(config: config), server.url("/a"))
    }

    @Test(arguments: [70 << 10, 99 << 10, 101 << 10, 300 << 10], ["X-Field: ", "HTTP/1.1 200 "])
    func `A header line that is too long is a limit error that names the limit`(length: Int, beginning: String)
        async throws
    {
        let line = beginning + String(repeating: "a", count: length) + "\r\n"
        let head = beginning.hasPrefix("HTTP") ? line : "HTTP/1.1 200 OK\r\n" + line
        let error = try await error(.raw(head + "Content-Length: 1\r\n\r\na"))
        let limit = try #require(error?.limit)
        #expect(error?.code == .limitExceeded && limit.name == "maximumResponseHeaderByteCount")
        #expect(limit.allowed == 64 << 10 && limit.required > limit.allowed)
    }

    @Test func `With a higher limit of the head a line is still limited`() async throws {
        let line = "X-Field: " + String(repeating: "a", count: 101 << 10)
        let error = try await error(.raw("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 1\r\n\r\na")) {
            $0.maximumResponseHeaderByteCount = 1 << 20
        }
        #expect(error?.limit?.name == "maximumResponseHeaderByteCount" && error?.limit?.allowed == 100 << 10)
    }

    @Test(arguments: ["18446744073709551616", "9223372036854775808", "99999999999999999999999999999"])
    func `A length beyond 64 bits exceeds every limit`(length: String) async throws {
        let error = try await error(.raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\na"))
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumResponseByteCount")
    }

    @Test func `A length of 64 bits with leading zeros is a valid length`() async throws {
        let zeros = String(repeating: "0", count: 40)
        #expect(try await error(.raw("HTTP/1.1 200 OK\r\nContent-Length: \(zeros)1\r\n\r\na")) == nil)
    }

    @Test(arguments: ["in one", "in each"])
    func `Chunk extensions are limited without a policy, too`(place: String) async throws {
        let error = try await error(
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked")])
                let extra = String(repeating: "x", count: 4000)
                if place == "in one" { connection.send("1;") }
                while connection.send(place == "in one" ? extra : "1;\(extra)\r\na\r\n") {}
                return false
            }
        )
        #expect(error?.code == .limitExceeded && error?.limit?.name == "bytes that frame a body")
    }

    @Test func `A handle that has counted chunks serves the next download as before`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/chunks" ? .chunked([[1], [2]]) : .response(body: [3])
        }
        let downloader = WebImageDownloader()
        for _ in 0..<3 {
            #expect(try await downloader.downloadData(with: server.url("/chunks")).data == Data([1, 2]))
            #expect(try await downloader.downloadData(with: server.url("/whole")).data == Data([3]))
        }
        #expect(server.connectionCount == 1)
    }

    // MARK: Ignored responses

    private static let basic = ("WWW-Authenticate", "Basic realm=\"r\"")

    private func downloader(_ change: (inout WebImageDownloaderConfig) -> Void = { _ in }) -> WebImageDownloader {
        var config = WebImageDownloaderConfig()
        config.urlCredential = WebImageCredential(user: "u", password: "p")
        change(&config)
        return WebImageDownloader(config: config)
    }

    @Test(arguments: [(megabytes: 2, connections: 3), (megabytes: 0, connections: 1)])
    func `A refused response that decompresses to a large body is cut off`(size: (megabytes: Int, connections: Int))
        async throws
    {
        let body = gzipOfZeros(megabytes: size.megabytes, hasChecksum: true)
        #expect(body.count < 16 << 10)
        let head = "HTTP/1.1 404 Not Found\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
        // In one piece: while one that comes in two is still being read, the next request uses another connection.
        let page = Array(head.utf8) + body
        let server = try LoopbackServer { _ in .script { _, connection in connection.send(page) } }
        let downloader = downloader()
        for _ in 0..<3 { #expect(await downloadError(downloader, server.url("/a"))?.statusCode == 404) }
        #expect(server.connectionCount == size.connections)
    }

    @Test(arguments: ["Digest", "Basic"])
    func `A server that repeats its password challenge is answered a few times`(scheme: String) async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            // No test runs forever.
            guard scheme == "Digest", number < 200 else { return .response(401, headers: [Self.basic], body: [0]) }
            let nonce = "Digest realm=\"r\", qop=\"auth\", stale=true, nonce=\"\(number)\""
            return .response(401, headers: [("WWW-Authenticate", nonce)], body: [0])
        }
        #expect(await downloadError(downloader(), server.url("/a"))?.statusCode == 401)
        #expect(server.requestCount() <= 11)
    }

    @Test(arguments: [true, false])
    func `The body of a password challenge is limited, with and without a length`(isChunked: Bool) async throws {
        let sent = Lock(0)
        let server = try LoopbackServer { request in
            guard request.header("Authorization") == nil else { return .response(body: [7]) }
            return .script { _, connection in
                let length = isChunked ? ("Transfer-Encoding", "chunked") : ("Content-Length", "\(48 << 20)")
                connection.sendHead(401, [Self.basic, length])
                let block = [UInt8](repeating: 7, count: 64 << 10)
                while sent.withLock({ $0 }) < 48 << 20, isChunked ? connection.sendChunk(block) : connection.send(block)
                {
                    sent.withLock { $0 += block.count }
                }
                return isChunked && connection.send("0\r\n\r\n")
            }
        }
        #expect(await downloadError(downloader(), server.url("/a"))?.statusCode == 401)
        await server.wait { _, open in open == 0 }
        #expect(sent.withLock { $0 } < 32 << 20)
    }

    @Test func `A password challenge sent byte by byte ends after a while`() async throws {
        let server = try LoopbackServer { request in
            guard request.header("Authorization") == nil else { return .response(body: [7]) }
            return .script { _, connection in
                connection.sendHead(401, [Self.basic, ("Content-Length", "100")])
                let never = Monitor(())
                for _ in 0..<100 where connection.send([65]) {
                    // The pace of the server, not a wait of the test.
                    _ = never.wait(seconds: 0.1) { _ -> Bool? in nil }
                }
                return true
            }
        }
        let downloader = downloader {
            $0.downloadTimeout = 1
            $0.minimumBytesPerSecond = 0
        }
        #expect(await downloadError(downloader, server.url("/a"))?.statusCode == 401)
    }

    @Test func `A long body of a password challenge is read, and the password sent`() async throws {
        let server = try LoopbackServer { request in
            guard request.header("Authorization") == nil else { return .response(body: [7]) }
            return .response(401, headers: [Self.basic], body: [UInt8](repeating: 65, count: 100_000))
        }
        #expect(try await downloader().downloadData(with: server.url("/a")).data == Data([7]))
        #expect(server.connectionCount == 1)
    }

    // MARK: Content codings

    /// A zstd frame of zeros: blocks of one byte that is repeated 131 072 times.
    private func zstdOfZeros(megabytes: Int) -> [UInt8] {
        let blocks = megabytes * 8
        var bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50]
        for index in 0..<blocks {
            let header = UInt32(131_072) << 3 | 1 << 1 | (index == blocks - 1 ? 1 : 0)
            bytes += [UInt8(header & 255), UInt8(header >> 8 & 255), UInt8(header >> 16), 0]
        }
        return bytes
    }

    /// 256 MiB of zeros in 203 bytes, by Python's `brotli` (quality 9, window 24).
    private static let brotliOfZeros = """
        z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje\
        //P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC6\
        9//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/z8=
        """

    @Test(arguments: ["zstd", "gzip", "br"])
    func `A body that decompresses to hundreds of megabytes is cut off at the limit`(coding: String) async throws {
        let body =
            switch coding {
            case "zstd": zstdOfZeros(megabytes: 1024)
            case "br": try #require(Data(base64Encoded: Self.brotliOfZeros).map { [UInt8]($0) })
            default: gzipOfZeros(megabytes: 1024)
            }
        let error = try await error(.response(headers: [("Content-Encoding", coding)], body: body)) {
            $0.maximumResponseByteCount = 4 << 20
        }
        // A libcurl without the coding refuses it.
        #expect(error?.limit?.name == "maximumResponseByteCount" || error?.code == .transportFailed)
        #expect(error?.limit?.name == "maximumResponseByteCount" || coding != "gzip")
    }
}
