import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageFleet

/// Three masters, one of which has a replica.
@Suite(.timeLimit(.minutes(2)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisClusterTests {
    private final class Cluster: Sendable {
        let servers: [RedisServer]
        let clients: [RedisClient]

        init() async throws {
            var servers: [RedisServer] = []
            for _ in 0..<4 {
                servers.append(
                    try await RedisServer(
                        "--cluster-enabled",
                        "yes",
                        "--cluster-node-timeout",
                        "1000",
                        "--repl-diskless-sync-delay",
                        "0",
                        "--cluster-require-full-coverage",
                        "no"
                    )
                )
            }
            self.servers = servers
            clients = servers.map { RedisClient($0.configuration) }
            for (number, range) in [("0", "5460"), ("5461", "10922"), ("10923", "16383")].enumerated() {
                _ = await clients[number].reply("CLUSTER", "ADDSLOTSRANGE", range.0, range.1)
                let (port, bus) = (String(servers[number + 1].port), String(servers[number + 1].busPort))
                _ = await clients[0].reply("CLUSTER", "MEET", "127.0.0.1", port, bus)
            }
            for client in clients {
                await Self.wait { await Self.text(client, "CLUSTER", "INFO").contains("cluster_known_nodes:4") }
            }
            let first = await Self.text(clients[0], "CLUSTER", "MYID")
            await Self.wait { await self.clients[3].reply("CLUSTER", "REPLICATE", first) == .success(.status("OK")) }
            await Self.wait {
                await Self.text(self.clients[3], "INFO", "replication").contains("master_link_status:up")
            }
            for client in clients {
                await Self.wait { await Self.text(client, "CLUSTER", "INFO").contains("cluster_state:ok") }
            }
        }

        func id(_ number: Int) async -> String { await Self.text(clients[number], "CLUSTER", "MYID") }

        static func text(_ client: RedisClient, _ words: String...) async -> String {
            var command = RedisCommand()
            command.arguments = words.map { Data($0.utf8) }
            return (try? await client.reply(command).get())?.text ?? ""
        }

        /// Asks until it is so, at most 30 seconds.
        static func wait(_ condition: () async -> Bool) async {
            let end = ContinuousClock.now + .seconds(30)
            while await !condition() {
                guard ContinuousClock.now < end else {
                    Issue.record("it did not become true")
                    return
                }
                await Task.yield()
            }
        }
    }

    @Test func `Keys are found on all nodes, while slots move, and after a master has died`() async throws {
        let cluster = try await Cluster()
        var configuration = cluster.servers[1].configuration
        configuration.health.pause = 50_000_000
        let client = RedisClient(configuration)
        let keys = (0..<200).map { "wi1:{\($0)}" }
        for key in keys { #expect(await client.reply("SET", key, key, key: key) == .success(.status("OK"))) }
        for key in keys { #expect(await client.reply("GET", key, key: key) == .success(.bytes(Data(key.utf8)))) }

        // A slot of the second master moves to the third: the first of its keys that is looked for is not there any more.
        let key = try #require(keys.first { (5461...10_922).contains(ClusterSlots.slot(of: $0.utf8)) })
        let slot = String(ClusterSlots.slot(of: key.utf8))
        let (second, third) = (await cluster.id(1), await cluster.id(2))
        _ = await cluster.clients[2].reply("CLUSTER", "SETSLOT", slot, "IMPORTING", second)
        _ = await cluster.clients[1].reply("CLUSTER", "SETSLOT", slot, "MIGRATING", third)
        _ = await cluster.clients[1].reply(
            "MIGRATE",
            "127.0.0.1",
            String(cluster.servers[2].port),
            key,
            "0",
            "5000",
            key: key
        )
        #expect(await client.reply("GET", key, key: key) == .success(.bytes(Data(key.utf8))), "it is asked for there")
        for number in [2, 1] { _ = await cluster.clients[number].reply("CLUSTER", "SETSLOT", slot, "NODE", third) }
        #expect(await client.reply("GET", key, key: key) == .success(.bytes(Data(key.utf8))), "it has moved")

        // What the replica does not have when the master dies is lost. WAIT waits for the writes of the same connection and those before.
        let last = try #require(keys.last { ClusterSlots.slot(of: $0.utf8) <= 5460 })
        #expect(await cluster.clients[0].reply("SET", last, last, key: last) == .success(.status("OK")))
        #expect(await cluster.clients[0].reply("WAIT", "1", "30000", patience: 40) == .success(.number(1)))
        await cluster.servers[0].kill()
        for key in keys where ClusterSlots.slot(of: key.utf8) > 5460 {
            #expect(
                await client.reply("GET", key, key: key) == .success(.bytes(Data(key.utf8))),
                "others are not affected"
            )
        }
        for key in keys {
            await Cluster.wait { await client.reply("GET", key, key: key) == .success(.bytes(Data(key.utf8))) }
        }
    }
}
