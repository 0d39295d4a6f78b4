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
struct FleetStatisticsTests {
    @Test func `Hits, misses and bytes are counted on each machine, and for all in the store`() async throws {
        let (server, fleet) = (try await RedisServer("--maxmemory", "100mb"), try Fleet())
        let store = try server.store()
        let machines = [fleet.machine("1", store), fleet.machine("2", try server.store())]
        for machine in machines {
            for name in ["a", "b"] { _ = try await machine.load(fleet.origin.url("/\(name).jpg")) }
            await machine.cache.flush()
        }
        let (first, second) = (machines[0].cache.statistics, machines[1].cache.statistics)
        let count = try Fleet.image().count
        #expect(first.hitCount == 0 && first.missCount == 2 && first.storeCount == 2 && first.readByteCount == 0)
        #expect(first.storedByteCount > 2 * count && first.storedByteCount < 2 * count + 4000)
        #expect(second.hitCount == 2 && second.missCount == 0 && second.storeCount == 0)
        #expect(second.readByteCount == 2 * count && second.failureCount == 0)
        let report = try await store.report()
        #expect(report.statistics.hitCount == 2 && report.statistics.missCount == 2)
        #expect(report.statistics.storedByteCount == first.storedByteCount)
        #expect(report.valueCount == 2 && report.valueByteCount == first.storedByteCount && !report.isEstimate)
        #expect(report.serverMemoryLimit == 100 << 20 && (report.serverMemory ?? 0) > 100_000)
        #expect(report.replyTime > 0 && report.serverEvictionCount == 0)
    }

    @Test func `Many values are estimated`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(server.configuration)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8000 {
                group.addTask {
                    let name = number % 2 == 0 ? "wi1:{\(number)}" : "other\(number)"
                    _ = await client.reply("SET", name, String(repeating: "x", count: 100))
                }
            }
        }
        let report = try await server.store().report()
        #expect(report.isEstimate)
        #expect((3000...5000).contains(report.valueCount ?? 0))
        #expect((300_000...500_000).contains(report.valueByteCount ?? 0))
    }

    @Test func `Circuits that open are counted, and the cache knows that one is open`() async throws {
        let nobody = try ReservedPort()
        let store = try RemoteImageStore(redis: "redis://127.0.0.1:\(nobody.port)")
        let fleet = try Fleet()
        let machine = fleet.machine("1", store)
        for number in 0..<10 { _ = try await machine.load(fleet.origin.url("/\(number)")) }
        #expect(machine.cache.openCircuitCount == 1)
        #expect(machine.cache.statistics.circuitOpeningCount == 1)
        await #expect(throws: WebImageError.self) { try await store.report() }
        await machine.cache.flush()
    }

    @Test func `A user with the rights of the guide can do everything`() async throws {
        let guide = try String(contentsOfFile: Fixtures.path("../../Documentation/Fleet.md"), encoding: .utf8)
        let line = try #require(guide.split(separator: "\n").first { $0.hasPrefix("ACL SETUSER") })
        let words = line.split(separator: " ").dropFirst(2).map(String.init)
        let server = try await RedisServer(certificates: nil, ["--user"] + words)
        let store = try RemoteImageStore(redis: "redis://webimage:secret@127.0.0.1:\(server.port)", timeout: 5)
        let fleet = try Fleet(headers: [("Cache-Control", "max-age=0"), ("ETag", "\"x\"")])
        let machine = fleet.machine("1", store)
        machine.manager.cachePolicy = .http
        for _ in 0..<2 { _ = try await machine.load(fleet.origin.url("/a.jpg")) }
        await machine.cache.flush()
        #expect(machine.cache.statistics.failureCount == 0 && machine.cache.statistics.storeCount > 0)
        let report = try await store.report()
        #expect(report.statistics.storeCount > 0 && report.valueCount == 1 && report.serverMemory != nil)
        try await machine.cache.removeAll()
        // Which commands were refused.
        let text = try #require(await RedisClient(server.configuration).reply("INFO", "commandstats").get().text)
        let refused = text.split(separator: "\r\n").filter {
            !$0.contains("rejected_calls=0") && $0.hasPrefix("cmdstat")
        }
        #expect(refused.isEmpty, "\(refused)")
    }

    @Test func `The command reports the sums of all processes`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let (directory, store) = (TemporaryDirectory(), "redis://127.0.0.1:\(server.port)")
        for name in ["1", "2"] {
            let arguments = [
                "get", fleet.origin.url("/a.jpg").absoluteString, "-o", directory.path("\(name).png"), "--cache-dir",
                directory.path(name), "--remote-cache", store,
            ]
            let run = try await ProgramRun.run(ProgramRun.product("webimage"), arguments)
            #expect(run.status == 0, "\(run.errors)")
        }
        func stats(_ arguments: String...) async throws -> ProgramRun {
            try await ProgramRun.run(
                ProgramRun.product("webimage"),
                ["cache", "stats", "--remote"] + arguments,
                environment: ["WEBIMAGE_REMOTE_CACHE": store]
            )
        }
        let text = try await stats(store)
        #expect(text.output.contains("all processes: 1 hits (") && text.output.contains(", 1 misses"), "\(text.output)")
        #expect(text.output.contains("values now: 1, ") && text.output.contains("the circuit is closed"))
        let json = try await stats("env", "--json")
        #expect(json.output.contains("\"hits\":1,") && json.output.contains("\"values\":1"), "\(json.output)")
        #expect(try await stats("redis://127.0.0.1:1").status == 1)
        let wrong = try await ProgramRun.run(ProgramRun.product("webimage"), ["cache", "list", "--remote", store])
        #expect(wrong.status == 64)
    }
}
