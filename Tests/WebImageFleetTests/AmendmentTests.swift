import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

@Suite(
    .tags(.threadSanitizer),
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct AmendmentTests {
    /// Larger than what an amendment may send.
    private static let image = "JPEG/icc-long.jpg"

    private func receivedByteCount(_ client: RedisClient) async throws -> Int {
        let text = try #require(await client.reply("INFO", "stats").get().text)
        let line = try #require(text.split(separator: "\r\n").first { $0.hasPrefix("total_net_input_bytes:") })
        return try #require(Int(line.dropFirst("total_net_input_bytes:".count)))
    }

    @Test func `A 304 makes the entry of all machines fresh, and sends no image`() async throws {
        let body = [UInt8](try Fixtures.data(Self.image))
        #expect(body.count > 50_000)
        let fleet = try Fleet { request in
            guard request.header("If-None-Match") == nil else {
                return .response(304, headers: [("Cache-Control", "max-age=1000"), ("ETag", "\"x\"")])
            }
            return .response(headers: [("Cache-Control", "max-age=0"), ("ETag", "\"x\"")], body: body)
        }
        let server = try await RedisServer()
        let client = RedisClient(server.configuration)
        let (first, second) = (fleet.machine("1", try server.store()), fleet.machine("2", try server.store()))
        for machine in [first, second] { machine.manager.cachePolicy = .http }
        let url = fleet.origin.url("/a.jpg")
        _ = try await first.load(url)
        await first.cache.flush()
        let before = try await receivedByteCount(client)
        #expect(before > body.count)
        _ = try await first.load(url)
        #expect(fleet.origin.requestCount() == 2)
        let name = try await server.name(of: url.absoluteString)
        // The entry was stored for ten seconds, as stale at once.
        try await waitUntil {
            if case .success(.number(let seconds)) = await client.reply("TTL", name) { seconds > 100 } else { false }
        }
        #expect(try await receivedByteCount(client) - before < 10_000)
        _ = try await second.load(url)
        #expect(fleet.origin.requestCount() == 2, "the second machine found a fresh entry")
        await second.cache.flush()
        #expect(second.cache.local.diskEntry(forKey: url.absoluteString)?.data == Data(body))
    }

    @Test(arguments: ["private", "no-store"])
    func `A 304 that is not for everyone changes nothing in the store`(directive: String) async throws {
        let body = [UInt8](try Fleet.image())
        let fleet = try Fleet { request in
            let control = request.header("If-None-Match") == nil ? "max-age=0" : directive
            let headers = [("Cache-Control", control), ("ETag", "\"x\"")]
            return request.header("If-None-Match") == nil
                ? .response(headers: headers, body: body) : .response(304, headers: headers)
        }
        let server = try await RedisServer()
        let (client, machine) = (RedisClient(server.configuration), fleet.machine("1", try server.store()))
        machine.manager.cachePolicy = .http
        let url = fleet.origin.url("/a.jpg")
        _ = try await machine.load(url)
        await machine.cache.flush()
        let name = try await server.name(of: url.absoluteString)
        let value = await client.reply("GET", name)
        _ = try await machine.load(url)
        // Commands of one client take effect in their order.
        _ = try await machine.load(fleet.origin.url("/b.jpg"))
        await machine.cache.flush()
        #expect(await client.reply("GET", name) == value)
    }

    @Test func `A value that has changed meanwhile is left as it is`() async throws {
        let server = try await RedisServer()
        let (client, store) = (RedisClient(server.configuration), try server.store().store)
        _ = await client.reply("SET", "wi1:a", "0123456789")
        let end = await withCheckedContinuation { continuation in
            store.readEnd("wi1:a", count: 4) { continuation.resume(returning: $0) }
        }
        #expect(end?.end == Data("6789".utf8) && end?.byteCount == 10)
        let pieces = [RemotePiece(offset: 1, bytes: Data("ab".utf8)), RemotePiece(offset: 4, bytes: Data("c".utf8))]
        store.overwrite(pieces, of: "wi1:a", ifAt: 6, Data("678x".utf8), seconds: 100)
        store.overwrite(pieces, of: "wi1:b", ifAt: 6, Data("6789".utf8), seconds: 100)
        #expect(await value(of: "wi1:a", store) == Data("0123456789".utf8))
        store.overwrite(pieces, of: "wi1:a", ifAt: 6, Data("6789".utf8), seconds: 100)
        #expect(await value(of: "wi1:a", store) == Data("0ab3c56789".utf8))
        #expect(await client.reply("EXISTS", "wi1:b") == .success(.number(0)))
    }

    private func value(of name: String, _ store: any RemoteStore) async -> Data? {
        let read = await withCheckedContinuation { continuation in
            store.read(name) { continuation.resume(returning: $0) }
        }
        if case .value(let data) = read { return data }
        return nil
    }
}
