import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageFleet

/// Three masters, one of which has a replica.
@Suite(.timeLimit(.minutes(2)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisClusterTests {
    @Test func `Keys are found on all nodes, while slots move, and after a master has died`() async throws {
        let cluster = try await RedisCluster(replicas: 1, nodeTimeout: 1000)
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
            await cluster.wait { await client.reply("GET", key, key: key) == .success(.bytes(Data(key.utf8))) }
        }
    }
}
