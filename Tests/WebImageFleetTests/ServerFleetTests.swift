import Foundation
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

private let program = ProgramRun.product("webimage-server")
private let isBuilt = FileManager.default.isExecutableFile(atPath: program)

/// Processes of `webimage-server` that share a store.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
    .enabled(if: isBuilt, "webimage-server was not built")
)
struct ServerFleetTests {
    private let directory = TemporaryDirectory()

    /// A running server.
    private struct Server {
        let process: HelperProcess
        let port: Int

        func counter(_ name: String) async -> Int? {
            let page = await LoopbackAnswer.get("/metrics", port: port, fields: "Connection: close\r\n").body
            let lines = String(decoding: page, as: UTF8.self).split(separator: "\n")
            return lines.first { $0.hasPrefix("webimage_\(name) ") }?.split(separator: " ").last.flatMap { Int($0) }
        }
    }

    private func server(_ name: String, _ arguments: [String], variables: [String] = []) async throws -> Server {
        let words =
            ["-c", "exec env \"$@\" 2>&1", "sh"] + variables
            + [program, "--listen", "127.0.0.1:0", "--insecure", "--cache-dir", directory.path(name)] + arguments
        let process = try HelperProcess(path: "/bin/sh", words)
        while let line = await process.readLine() {
            guard line.contains("serving on"), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
                continue
            }
            return Server(process: process, port: port)
        }
        throw RedisServer.StartFailure()
    }

    @Test func `A server serves what another one has made, without its origin and without decoding`() async throws {
        let (redis, fleet) = (try await RedisServer(), try Fleet(headers: [("Cache-Control", "max-age=600")]))
        let store = "redis://127.0.0.1:\(redis.port)"
        let allow = ["--allow", "127.0.0.1:\(fleet.origin.port)"]
        let first = try await server("1", allow + ["--remote-cache", store])
        let second = try await server("2", allow, variables: ["WEBIMAGE_REMOTE_CACHE=\(store)"])
        let target = "/_/w:20/plain/\(fleet.origin.url("/a.jpg").absoluteString)@png"
        let made = await LoopbackAnswer.get(target, port: first.port, fields: "Connection: close\r\n")
        #expect(made.status == 200)
        // The original and the result. Each question is a round trip to the store.
        for _ in 0..<10_000 { if await redis.names().count == 2 { break } }
        let served = await LoopbackAnswer.get(target, port: second.port, fields: "Connection: close\r\n")
        #expect(served.status == 200)
        #expect(served.body == made.body)
        #expect(fleet.origin.requestCount() == 1)
        for name in ["downloads_total", "decodes_total", "encodes_total"] {
            #expect(await second.counter(name) == 0, "\(name)")
        }
        // Another size is made of the shared original.
        let other = target.replacingOccurrences(of: "w:20", with: "w:10")
        #expect(await LoopbackAnswer.get(other, port: second.port, fields: "Connection: close\r\n").status == 200)
        #expect(fleet.origin.requestCount() == 1)
        // Servers that end add what they have counted to the sums of all.
        for server in [first, second] {
            server.process.send(SIGTERM)
            #expect(await server.process.wait() == 0)
        }
        let sums = try await redis.store().report().statistics
        #expect(sums.storeCount >= 2 && sums.hitCount >= 1, "\(sums)")
    }

    @Test func `A wrong address of the store is an error of usage that keeps the password`() async throws {
        let run = try await ProgramRun.run(
            program,
            ["--insecure", "--remote-cache", "http://u:secret@127.0.0.1"]
        )
        #expect(run.status == 64)
        #expect(run.errors.contains("--remote-cache") && !run.errors.contains("secret"))
    }
}
