import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

/// Stores that answer wrongly, late or not at all.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2)))
struct S3HostileTests {
    private func failure(_ response: LoopbackResponse, patience: Double = 20) async throws -> S3Client.Failure? {
        let server = try LoopbackServer { _ in response }
        let client = try S3Client(port: server.port)
        guard case .failure(let failure) = await client.result("GET", "a", patience: patience) else { return nil }
        return failure
    }

    @Test func `A body over the limit is refused by its length, or when it exceeds it`() async throws {
        let announced = LoopbackResponse.script { _, connection in
            connection.sendHead(200, [("Content-Length", "\(S3Client.mostBytes + 1)")])
        }
        #expect(try await failure(announced) == .tooLarge)
        #expect(try await failure(.response(206, headers: [("Content-Range", "bytes 0-0/9")], body: [1])) == .tooLarge)
    }

    @Test func `A body without an end, or slower than its deadline, ends late`() async throws {
        #expect(try await failure(.slow(interval: 0.01, declared: 1 << 20), patience: 0.3) == .late)
        #expect(try await failure(.silence, patience: 0.1) == .late)
        let head = LoopbackResponse.script { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nX-A: ")
            connection.waitForClose()
            return false
        }
        #expect(try await failure(head, patience: 0.1) == .late)
    }

    @Test func `A body that breaks off is no value`() async throws {
        #expect(try await failure(.truncated([1, 2, 3], declared: 10)) == .connection)
        #expect(try await failure(.truncatedChunked([1, 2, 3])) == .connection)
        #expect(try await failure(.closeWithoutAnswer) == .connection)
        #expect(try await failure(.raw("NONSENSE\r\n\r\n")) == .connection)
    }

    @Test func `Redirects are not followed`() async throws {
        let other = try LoopbackServer { _ in .response(body: [1]) }
        let target = other.url("/a").absoluteString
        for status in [301, 302, 307] {
            #expect(try await failure(.redirect(to: target, status: status)) == .refused(.storeFailure))
        }
        #expect(other.requestCount() == 0)
    }

    @Test func `The document of an error is read up to a limit`() async throws {
        let long = [UInt8](repeating: 60, count: 200_000)
        #expect(try await failure(.response(404, body: long)) == .refused(.absent))
        let endless = LoopbackResponse.script { _, connection in
            connection.sendHead(403, [("Transfer-Encoding", "chunked")])
            connection.sendChunk(Array("<Error><Code>AccessDenied</Code>".utf8))
            while connection.sendChunk(long) {}
            return false
        }
        #expect(try await failure(endless) == .refused(.requestFailure))
    }

    @Test func `A store without conditional writes gets one without`() async throws {
        let server = try LoopbackServer { request in
            switch request.method {
            case "GET": .response(404)
            default: request.header("If-None-Match") == nil ? .response() : .response(501)
            }
        }
        let store = S3Store(try S3Client(port: server.port), patience: 20_000_000_000)
        for name in ["wi1:{a}", "wi1:{b}"] {
            #expect(await store.value(name) == .absent)
            #expect(await store.write(Data([1]), as: name))
        }
        #expect(server.requests.filter { $0.method == "PUT" }.count == 3)
    }

    @Test func `Without credentials nothing is sent`() async throws {
        let server = try LoopbackServer { _ in .response() }
        let settings = AWSSettings(["AWS_EC2_METADATA_DISABLED": "true"])
        let configuration = try S3Configuration(
            url: "s3://fleet?endpoint=http://127.0.0.1:\(server.port)",
            settings: settings
        )
        let client = S3Client(configuration, credentials: AWSCredentialCache(settings))
        #expect(await client.result("GET", "a") == .failure(.unavailable))
        #expect(server.requestCount() == 0)
    }

    @Test func `Loads do not fail with a store that is gone, silent, or lies`() async throws {
        let fleet = try Fleet()
        let port = try ReservedPort()
        var stores = [(try S3Client(port: port.port), "gone")]
        let lies: [(String, LoopbackResponse)] = [
            ("silent", .silence), ("reset", .reset), ("foreign", .response(body: [UInt8](repeating: 7, count: 1000))),
            ("error", .response(500)), ("denied", .response(403)), ("endless", .endless),
        ]
        let servers = try lies.map { lie in try LoopbackServer { _ in lie.1 } }
        for (server, lie) in zip(servers, lies) { stores.append((try S3Client(port: server.port), lie.0)) }
        for (client, name) in stores {
            let machine = fleet.machine(name, RemoteImageStore(S3Store(client, patience: 20_000_000)))
            for number in 0..<12 { _ = try await machine.load(fleet.origin.url("/\(name)\(number)")) }
        }
        #expect(fleet.origin.requestCount() == 12 * stores.count)
    }
}

@Suite struct S3RefusalTests {
    @Test(arguments: [
        (404, "<Error><Code>NoSuchKey</Code></Error>", S3Refusal.absent), (404, "", .absent),
        (404, "<Error><Code>NoSuchBucket</Code></Error>", .storeFailure),
        (403, "<Error><Code>AccessDenied</Code></Error>", .requestFailure),
        (403, "<Error><Code>SignatureDoesNotMatch</Code></Error>", .storeFailure),
        (400, "<Code>ExpiredToken</Code>", .staleCredentials),
        (403, "<Code>InvalidAccessKeyId</Code>", .staleCredentials),
        (400, "<Code>AuthorizationHeaderMalformed</Code>", .storeFailure),
        (400, "<Code>EntityTooLarge</Code>", .requestFailure),
        (416, "", .empty), (412, "", .storeFailure), (301, "", .storeFailure), (500, "", .storeFailure),
        (503, "<Code>SlowDown</Code>", .storeFailure),
    ])
    func `Errors have a reaction`(status: Int, body: String, expected: S3Refusal) {
        #expect(S3Refusal(statusCode: status, body: Data(body.utf8), isOptional: false) == expected)
    }

    @Test func `Conditional writes have more outcomes`() {
        for status in [409, 412] {
            #expect(S3Refusal(statusCode: status, body: Data(), isOptional: true) == .exists)
        }
        #expect(S3Refusal(statusCode: 501, body: Data(), isOptional: true) == .unsupported)
        let body = Data("<Code>NotImplemented</Code>".utf8)
        #expect(S3Refusal(statusCode: 400, body: body, isOptional: true) == .unsupported)
    }

    @Test(arguments: [
        "", "<Code>", "<Code></Code>", "<Code>a b</Code>", "</Code><Code>", "<code>x</code>",
        "<Code>" + String(repeating: "a", count: 100) + "</Code>",
        String(repeating: " ", count: 5000) + "<Code>A</Code>",
    ])
    func `What is no short word is no code`(document: String) {
        #expect(S3Refusal.code(in: Data(document.utf8)) == nil)
    }
}
