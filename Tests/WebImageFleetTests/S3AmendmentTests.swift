import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(3)), .enabled(if: S3Server.isInstalled, "\(S3Server.absence)"))
struct S3AmendmentTests {
    private let secret = Data("0123456789abcdef".utf8)

    /// An origin that confirms an image for as long as it says.
    private func origin(_ body: [UInt8], ages: String...) throws -> Fleet {
        let answers = Lock(0)
        return try Fleet { request in
            let age = answers.withLock { count -> String in
                defer { count += 1 }
                return ages[min(count, ages.count - 1)]
            }
            let headers = [
                ("Cache-Control", age), ("ETag", "\"0123456789abcdef0123456789abcdef\""), ("Vary", "Accept-Encoding"),
                ("Content-Type", "image/jpeg"), ("Content-Language", "en"), ("Accept-Ranges", "bytes"),
                ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Server", "a server of the origin/1.2.3"),
            ]
            return request.header("If-None-Match") == nil
                ? .response(headers: headers, body: body) : .response(304, headers: headers)
        }
    }

    @Test(arguments: [false, true])
    func `A 304 makes the object of all machines fresh, and leaves its bytes`(isSealed: Bool) async throws {
        let body = [UInt8](try Fixtures.data("JPEG/icc-long.jpg"))
        let fleet = try origin(body, ages: "max-age=0", "max-age=0", "max-age=1000")
        let client = try await S3Server.shared.value.client(prefix: "a b/\(UUID().uuidString)")
        let store = RemoteImageStore(S3Store(client, patience: 20_000_000_000)).sealed(with: isSealed ? [secret] : [])
        let (first, second) = (fleet.machine("1", store), fleet.machine("2", store))
        for machine in [first, second] { machine.manager.cachePolicy = .http }
        let url = fleet.origin.url("/a.jpg")
        _ = try await first.load(url)
        await first.cache.flush()
        let name = S3Store.objectName(try await store.trustedNames().entry(forKey: url.absoluteString))
        let value = try await client.result("GET", name).get()
        var former: String?
        // The second amendment replaces the first.
        for count in 2...3 {
            _ = try await first.load(url)
            #expect(fleet.origin.requestCount() == count)
            try await waitUntil {
                let text = await client.amendment(of: name)
                return text != nil && text != former
            }
            former = await client.amendment(of: name)
        }
        #expect(try await client.result("GET", name).get() == value)
        #expect((former ?? "").utf8.count < 1000, "\(former ?? "")")
        _ = try await second.load(url)
        #expect(fleet.origin.requestCount() == 3, "the second machine found a fresh entry")
        await second.cache.flush()
        #expect(second.cache.local.diskEntry(forKey: url.absoluteString)?.data == Data(body))
        #expect(second.cache.statistics.refusedCount == 0)
    }

    @Test func `The end of an object is read, whatever its length`() async throws {
        let client = try await S3Server.shared.value.client()
        let store = S3Store(client, patience: 20_000_000_000)
        for count in [1, 99, 100, 101, 5000] {
            let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
            #expect(await store.write(value, as: "wi1:{a}"))
            let found = await store.end(of: "wi1:{a}")
            #expect(found?.end == value.suffix(100) && found?.byteCount == count)
        }
        #expect(await store.end(of: "wi1:{b}") == nil)
    }

    @Test func `An amendment of another value does not change the object, and one of none makes none`() async throws {
        let client = try await S3Server.shared.value.client()
        let store = S3Store(client, patience: 20_000_000_000)
        #expect(await store.write(Data("0123456789".utf8), as: "wi1:{a}"))
        let pieces = [RemotePiece(offset: 1, bytes: Data("ab".utf8)), RemotePiece(offset: 4, bytes: Data("c".utf8))]
        for (footer, value) in [("678x", "0123456789"), ("6789", "0ab3c56789")] {
            store.overwrite(pieces, of: "wi1:{a}", ifAt: 6, Data(footer.utf8), seconds: 100)
            let word = Data(footer.utf8).base64EncodedString()
            try await waitUntil { await client.amendment(of: "wi1/a")?.contains(word) == true }
            #expect(await store.value("wi1:{a}") == .value(Data(value.utf8)))
        }
        store.overwrite(pieces, of: "wi1:{b}", ifAt: 6, Data("6789".utf8), seconds: 100)
        // After the amendment, as changes of one object are in order.
        #expect(await store.write(Data("0123456789".utf8), as: "wi1:{a}"))
        #expect(await store.value("wi1:{a}") == .value(Data("0123456789".utf8)))
        #expect(await client.result("GET", "wi1/b") == .failure(.refused(.absent)))
    }
}

/// Services without copies, and metadata of any kind.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2)))
struct S3CopyTests {
    private let pieces = [RemotePiece(offset: 0, bytes: Data("ab".utf8))]

    private func overwrite(_ store: S3Store, _ pieces: [RemotePiece]? = nil) {
        store.overwrite(pieces ?? self.pieces, of: "wi1:{a}", ifAt: 8, Data("89".utf8), seconds: 1)
    }

    @Test func `A copy sends no image`() async throws {
        let bucket = try FakeBucket()
        let store = try bucket.store()
        #expect(await store.write(Data("0123456789".utf8), as: "wi1:{a}"))
        overwrite(store)
        try await waitUntil { await store.value("wi1:{a}") == .value(Data("ab23456789".utf8)) }
        let copy = try #require(bucket.server.requests.first { $0.header("x-amz-copy-source") != nil })
        #expect(copy.body.isEmpty && copy.header("Content-Length") == "0")
        #expect(copy.header("x-amz-copy-source") == "/fleet/p/wi1/a")
    }

    @Test(arguments: [true, false])
    func `A service that cannot copy is not asked again, and what it has done is a miss`(isRefused: Bool) async throws {
        let bucket = try FakeBucket(ignoring: ["x-amz-copy-source"]) { request in
            isRefused && request.header("x-amz-copy-source") != nil ? .response(501) : nil
        }
        let fleet = try Fleet(headers: [("Cache-Control", "max-age=0"), ("ETag", "\"x\"")])
        let client = try bucket.client()
        let store = RemoteImageStore(S3Store(client, patience: 20_000_000_000))
        let machine = fleet.machine("1", store)
        machine.manager.cachePolicy = .http
        for _ in 0..<4 {
            _ = try await machine.load(fleet.origin.url("/a.jpg"))
            await machine.cache.flush()
        }
        try await waitUntil { bucket.server.requests.contains { $0.header("x-amz-copy-source") != nil } }
        _ = try await machine.load(fleet.origin.url("/b.jpg"))
        await machine.cache.flush()
        #expect(bucket.server.requests.count { $0.header("x-amz-copy-source") != nil } == 1)
        #expect(client.circuits.openingCount == 0)
        let other = fleet.machine("2", store)
        _ = try await other.load(fleet.origin.url("/a.jpg"))
        #expect(other.cache.statistics.failureCount == 0)
    }

    @Test func `An error in a success is tried again with the next amendment`() async throws {
        let bucket = try FakeBucket { request in
            request.header("x-amz-copy-source") == nil
                ? nil : .response(body: Array("<Error><Code>InternalError</Code></Error>".utf8))
        }
        let store = try bucket.store()
        for count in 1...3 {
            overwrite(store)
            try await waitUntil { bucket.server.requestCount() == count }
        }
    }

    @Test func `What metadata have no room for is not amended`() async throws {
        let bucket = try FakeBucket()
        let store = try bucket.store()
        overwrite(store, [RemotePiece(offset: 0, bytes: Data(repeating: 1, count: 1500))])
        overwrite(store)
        try await waitUntil { bucket.server.requestCount() > 0 }
        #expect(await store.write(Data("0123456789".utf8), as: "wi1:{a}"))
        #expect(bucket.server.requestCount() == 2)
    }

    @Test(arguments: [
        "bytes 2-9/11", "bytes 3-9/10", "bytes 0-9/x", "bytes */10", "2-9/10", "bytes 2-9/99999999999999999999", "",
    ])
    func `A part without its place is no end of an object`(range: String) async throws {
        let bucket = try FakeBucket { _ in
            .response(206, headers: [("Content-Range", range)], body: Array("23456789".utf8))
        }
        #expect(try await bucket.store().end(of: "wi1:{a}", 8) == nil)
        let right = try FakeBucket { _ in
            .response(206, headers: [("Content-Range", "bytes 2-9/10")], body: Array("23456789".utf8))
        }
        #expect(try await right.store().end(of: "wi1:{a}", 8)?.byteCount == 10)
        // Without ranges, an object that is larger than its end.
        let whole = try FakeBucket { _ in .response(body: Array("23456789".utf8)) }
        #expect(try await whole.store().end(of: "wi1:{a}", 7) == nil)
    }
}

@Suite(.tags(.addressSanitizer)) struct S3AmendmentTextTests {
    private let value = Data("0123456789".utf8)

    @Test func `A text has the pieces of its amendment`() throws {
        let pieces = [RemotePiece(offset: 0, bytes: Data([0, 255])), RemotePiece(offset: 4, bytes: Data("c".utf8))]
        let amendment = S3Amendment(pieces, ifAt: 8, Data("89".utf8))
        let text = try #require(amendment.text)
        #expect(text == "8,ODk=,0,AP8=,4,Yw==" && S3Amendment(text) == amendment)
        #expect(amendment.applied(to: value) == Data([0, 255]) + Data("23c56789".utf8))
        #expect(amendment.applied(to: (Data([1]) + value).dropFirst()) == amendment.applied(to: value))
        for other in [Data(), value.dropLast(), Data("0123456780".utf8)] {
            #expect(amendment.applied(to: other) == other)
        }
    }

    @Test(arguments: [
        "", ",", "8,ODk=", "8,ODk=,0", "8,ODk=,0,", "8,ODk=,-1,AP8=", "8,ODk=,0,%%",
        "8,ODk=,99999999999999999999,AP8=", "8,ODk=,67108865,AP8=", "8,ODk=,0,AP8=,4,Yw==,5,Yw==", "8,ODk=,0,AP8=,",
        String(repeating: "8,ODk=,", count: 400),
    ])
    func `Another text is no amendment`(text: String) { #expect(S3Amendment(text) == nil) }

    @Test func `Pieces beyond the value change nothing`() throws {
        for text in ["8,ODk=,0,AP8=,10,Yw==", "8,ODk=,67108864,AP8=", "67108864,ODk=,0,AP8="] {
            #expect(try #require(S3Amendment(text)).applied(to: value) == value)
        }
    }
}

extension S3Client {
    /// The amendment in the metadata of an object.
    fileprivate func amendment(of name: String) async -> String? {
        let operation = Operation(method: "GET", name: name, patience: 20_000_000_000)
        let result: Result<S3Exchange.Answer, Failure> = await awaitCompletion { perform(operation, completion: $0) }
        return (try? result.get())?.headers[S3Amendment.field]
    }
}

extension S3Store {
    fileprivate func end(of name: String, _ count: Int = 100) async -> (end: Data, byteCount: Int)? {
        await awaitCompletion { readEnd(name, count: count, completion: $0) }
    }
}
