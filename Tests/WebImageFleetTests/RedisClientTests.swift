import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageFleet

/// Against a real server.
@Suite(.tags(.threadSanitizer), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisClientTests {
    @Test func `Bytes are stored and found as they are`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(server.configuration)
        let values = [Data(), Data(0...255), Data("\r\n$-1\r\n".utf8), Data(pattern(3_000_000))]
        for (number, value) in values.enumerated() {
            #expect(await client.reply(RedisCommand("SET", "k\(number)").with(value)) == .success(.status("OK")))
            #expect(await client.reply("GET", "k\(number)") == .success(.bytes(value)))
        }
        #expect(await client.reply("GET", "other") == .success(.null))
        #expect(await client.reply("NONSENSE") == .failure(.refused(.other("ERR"))))
    }

    @Test func `Commands of many callers are pipelined, and each gets its own reply`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(server.configuration)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<TestEffort.rounds(1000) {
                group.addTask {
                    let value = String(repeating: "\(number) ", count: number % 50)
                    _ = await client.reply("SET", "k\(number)", value)
                    return await client.reply("GET", "k\(number)") == .success(.bytes(Data(value.utf8)))
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        let clients = try #require(await client.reply("CLIENT", "LIST").get().text)
        #expect(clients.split(separator: "\n").count == 1)
    }

    /// A server with one value that stands still, and a client that does not close its connection for that.
    private func pausedServer() async throws -> (RedisServer, RedisClient) {
        let server = try await RedisServer()
        var configuration = server.configuration
        configuration.silence = 60_000_000_000
        let client = RedisClient(configuration)
        _ = await client.reply("SET", "a", "1")
        server.pause()
        return (server, client)
    }

    @Test func `Commands that wait for a server fail when its circuit opens`() async throws {
        let (server, client) = try await pausedServer()
        async let patient = client.reply("GET", "a", patience: 60)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask { #expect(await client.reply("GET", "a", patience: 1) == .failure(.late)) }
            }
        }
        #expect(await patient == .failure(.unavailable))
        server.resume()
    }

    @Test func `While a reply is overdue, a command fails at once unless it may wait for longer`() async throws {
        let (server, client) = try await pausedServer()
        #expect(await client.reply("GET", "a", patience: 0.5) == .failure(.late))
        #expect(await client.reply("GET", "a", patience: 0.04) == .failure(.unavailable))
        async let patient = client.reply("GET", "a", patience: 60)
        server.resume()
        #expect(await patient == .success(.bytes(Data("1".utf8))))
        #expect(await client.reply("GET", "a") == .success(.bytes(Data("1".utf8))))
    }

    @Test func `A user, a password and a database are used`() async throws {
        let server = try await RedisServer(
            "--user",
            "anna",
            "on",
            ">s3 cret",
            "~wi1:*",
            "+get",
            "+set",
            "+select",
            "--requirepass",
            "other"
        )
        let address = "127.0.0.1:\(server.port)"
        let anna = RedisClient(try RedisConfiguration(url: "redis://anna:s3%20cret@\(address)/3"))
        #expect(await anna.reply("SET", "wi1:a", "1") == .success(.status("OK")))
        #expect(await anna.reply("SET", "a", "1") == .failure(.refused(.forbidden)))
        let other = RedisClient(try RedisConfiguration(url: "redis://:other@\(address)"))
        #expect(await other.reply("GET", "wi1:a") == .success(.null))
        let there = RedisClient(try RedisConfiguration(url: "redis://:other@\(address)/3"))
        #expect(await there.reply("GET", "wi1:a") == .success(.bytes(Data("1".utf8))))
        let nobody = RedisClient(try RedisConfiguration(url: "redis://\(address)"))
        #expect(await nobody.reply("GET", "wi1:a") == .failure(.refused(.denied)))
    }

    @Test func `Nothing is sent after a login or a database that was refused`() async throws {
        let server = try await RedisServer("--databases", "2")
        var configuration = server.configuration
        configuration.database = 5
        #expect(await RedisClient(configuration).reply("SET", "a", "1") == .failure(.connection))
        configuration.database = 0
        configuration.password = "wrong"
        configuration.user = "nobody"
        #expect(await RedisClient(configuration).reply("SET", "a", "1") == .failure(.connection))
        #expect(await RedisClient(server.configuration).reply("DBSIZE") == .success(.number(0)))
    }

    @Test func `A name of a host is looked up`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(
            RedisConfiguration(endpoint: RedisEndpoint(host: "localhost", port: UInt16(server.port)))
        )
        #expect(await client.reply("PING") == .success(.status("PONG")))
        let nowhere = RedisClient(RedisConfiguration(endpoint: RedisEndpoint(host: "nowhere.invalid", port: 1)))
        let failure = await nowhere.reply("PING", patience: 20)
        #expect(failure == .failure(.connection) || failure == .failure(.late))
    }

    @Test func `Without a listener, commands fail, and after five of them at once`() async throws {
        let port = try ReservedPort()
        let client = RedisClient(
            RedisConfiguration(endpoint: RedisEndpoint(host: "127.0.0.1", port: UInt16(port.port)))
        )
        for _ in 0..<5 { #expect(await client.reply("PING") == .failure(.connection)) }
        #expect(await client.reply("PING") == .failure(.unavailable))
    }

    @Test func `A refused connection is closed once: its number soon belongs to another file`() async throws {
        let port = try ReservedPort()
        let client = RedisClient(
            RedisConfiguration(endpoint: RedisEndpoint(host: "127.0.0.1", port: UInt16(port.port)))
        )
        // A socket asserts that nothing else has closed it.
        for _ in 0..<3 { #expect(await client.reply("GET", "a") == .failure(.connection)) }
    }

    @Test func `A server that stands still costs the deadline once, and is used when it goes on`() async throws {
        let server = try await RedisServer()
        var configuration = server.configuration
        // Longer than the machine that runs the tests is busy with others.
        configuration.silence = 60_000_000_000
        let client = RedisClient(configuration)
        #expect(await client.reply("PING") == .success(.status("PONG")))
        server.pause()
        // A command that is sent late, because the machine is busy, has not waited for long when its time is over.
        #expect(await client.reply("PING", patience: 0.5) == .failure(.late))
        for _ in 0..<5 { #expect(await client.reply("PING", patience: 0.02) == .failure(.unavailable)) }
        server.resume()
        try await waitUntil { await client.reply("PING") == .success(.status("PONG")) }
    }

    @Test func `A reply that comes too late is not taken for that of the next command`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(server.configuration)
        _ = await client.reply("SET", "a", "1")
        _ = await client.reply("SET", "b", "2")
        server.pause()
        #expect(await client.reply("GET", "a", patience: 0.02) == .failure(.late))
        async let second = client.reply("GET", "b")
        server.resume()
        #expect(await second == .success(.bytes(Data("2".utf8))))
    }

    @Test func `A server that was killed and started again is used again`() async throws {
        let server = try await RedisServer()
        var configuration = server.configuration
        configuration.health.pause = 20_000_000
        let client = RedisClient(configuration)
        #expect(await client.reply("SET", "a", "1") == .success(.status("OK")))
        await server.kill()
        for _ in 0..<20 {
            let reply = await client.reply("GET", "a")
            #expect(reply == .failure(.connection) || reply == .failure(.unavailable))
        }
        try await server.start()
        try await waitUntil { await client.reply("GET", "a") == .success(.null) }
    }

    @Test func `A server that speaks another protocol fails the command`() async throws {
        let server = try LoopbackServer { _ in .response(404) }
        let client = RedisClient(
            RedisConfiguration(endpoint: RedisEndpoint(host: "127.0.0.1", port: UInt16(server.port)))
        )
        let reply = await client.reply("GET", "a", patience: 5)
        #expect(reply == .failure(.connection) || reply == .failure(.late))
    }

    @Test func `A value over the limit ends the connection, and the next command makes another`() async throws {
        let server = try await RedisServer()
        var configuration = server.configuration
        configuration.limits.stringByteCount = 1000
        let client = RedisClient(configuration)
        _ = await client.reply("SET", "big", String(repeating: "x", count: 1001))
        #expect(await client.reply("GET", "big") == .failure(.connection))
        #expect(await client.reply("SET", "small", "x") == .success(.status("OK")))
    }

    @Test func `A client that is released fails what it has not sent, and ends its thread`() async throws {
        let server = try await RedisServer()
        var client: RedisClient? = RedisClient(server.configuration)
        _ = await client?.reply("PING")
        server.pause()
        let result = await withCheckedContinuation { continuation in
            client?.send(RedisCommand("PING"), key: "", patience: 10_000_000_000) { continuation.resume(returning: $0) }
            client = nil
        }
        #expect(result == .failure(.unavailable))
    }
}

@Suite struct RedisConfigurationTests {
    @Test func `Addresses are parsed`() throws {
        let full = try RedisConfiguration(url: "redis://us%40er:p%3Ass@cache.example:7000/12")
        #expect(full.endpoint == RedisEndpoint(host: "cache.example", port: 7000))
        #expect(full.user == "us@er")
        #expect(full.password == "p:ss")
        #expect(full.database == 12)
        let short = try RedisConfiguration(url: "redis://cache")
        #expect(short.endpoint == RedisEndpoint(host: "cache", port: 6379))
        #expect(short.user == nil && short.password == nil && short.database == 0)
        #expect(short.handshake.isEmpty)
        #expect(try RedisConfiguration(url: "REDIS://:secret@[::1]:1").endpoint == RedisEndpoint(host: "::1", port: 1))
        let secret = try RedisConfiguration(url: "redis://:secret@h/1")
        #expect(secret.handshake == [RedisCommand("AUTH", "secret"), RedisCommand("SELECT", "1")])
        #expect(full.handshake.first == RedisCommand("AUTH", "us@er", "p:ss"))
        #expect(try RedisConfiguration(url: "rediss://h").usesTLS && !short.usesTLS)
    }

    @Test(arguments: [
        "", "cache", "redis:", "redis://", "redis:///1", "rediss:///1", "http://h", "redis://h:0", "redis://h:65536",
        "redis://h:x",
        "redis://user@h", "redis://h/x", "redis://h/-1", "redis://h/65536", "redis://h?x=1", "redis://h#x",
        "redis://a b",
    ])
    func `Other addresses are refused, without their password in the error`(text: String) {
        #expect(throws: RedisConfiguration.Problem.self) { try RedisConfiguration(url: text) }
    }
}
