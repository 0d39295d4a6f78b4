import Foundation
import TestSupport
import Testing
import WebImageSupport

@testable import WebImageFleet

/// A real cluster on 127.0.0.1: three masters, each with a third of the slots, and replicas of the first ones.
final class RedisCluster: Sendable {
    /// The masters, then the replicas.
    let servers: [RedisServer]
    /// A client of each server.
    let clients: [RedisClient]

    /// - Parameters:
    ///   - replicas: the number of replicas, 0 to 3.
    ///   - nodeTimeout: the time in milliseconds after which the cluster replaces a node that does not reply.
    init(replicas: Int, nodeTimeout: Int) async throws {
        var servers: [RedisServer] = []
        for _ in 0..<3 + replicas {
            servers.append(
                try await RedisServer(
                    "--cluster-enabled",
                    "yes",
                    "--cluster-node-timeout",
                    String(nodeTimeout),
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
        }
        for number in servers.indices { await meet(number) }
        for number in 0..<replicas {
            let master = await id(number)
            let replica = 3 + number
            await wait { await self.clients[replica].reply("CLUSTER", "REPLICATE", master) == .success(.status("OK")) }
        }
        // A master that is killed before its replica has its data is replaced by nobody.
        for number in 3..<servers.count { await waitForReplication(of: number) }
        for number in servers.indices {
            await wait { await self.text(number, "CLUSTER", "INFO").contains("cluster_state:ok") }
        }
    }

    /// Waits until a server knows all others. A node forgets one that it was told to meet and that does not answer in time, so it is told again.
    private func meet(_ number: Int) async {
        await wait {
            let nodes = await self.text(number, "CLUSTER", "NODES")
            for server in self.servers where !nodes.contains("127.0.0.1:\(server.port)@") {
                let (port, bus) = (String(server.port), String(server.busPort))
                _ = await self.clients[number].reply("CLUSTER", "MEET", "127.0.0.1", port, bus)
            }
            return nodes.split(separator: "\n").count == self.servers.count && !nodes.contains("handshake")
        }
    }

    func id(_ number: Int) async -> String { await text(number, "CLUSTER", "MYID") }

    /// The text that a server replies to a command, or nothing.
    func text(_ number: Int, _ words: String...) async -> String {
        var command = RedisCommand()
        command.arguments = words.map { Data($0.utf8) }
        return (try? await clients[number].reply(command, patience: 1).get())?.text ?? ""
    }

    /// Waits until a server is a replica that has the data of its master.
    func waitForReplication(of number: Int) async {
        await wait {
            let text = await self.text(number, "INFO", "replication")
            return text.contains("role:slave") && text.contains("master_link_status:up")
        }
    }

    /// Waits until a replica has become a master, and all slots have one, as it sees it.
    func waitForElection(of number: Int) async {
        await wait {
            guard await self.text(number, "INFO", "replication").contains("role:master") else { return false }
            let info = await self.text(number, "CLUSTER", "INFO")
            return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
        }
    }

    /// Moves a slot with its keys to another master, as `redis-cli --cluster reshard` does.
    func move(_ slot: Int, from source: Int, to target: Int) async throws {
        let number = String(slot)
        let (sourceID, targetID) = (await id(source), await id(target))
        try await command(target, "CLUSTER", "SETSLOT", number, "IMPORTING", sourceID)
        try await command(source, "CLUSTER", "SETSLOT", number, "MIGRATING", targetID)
        while true {
            let reply = try await clients[source].reply("CLUSTER", "GETKEYSINSLOT", number, "10").get()
            let keys = (reply.members ?? []).compactMap(\.text)
            if keys.isEmpty { break }
            var command = RedisCommand("MIGRATE", "127.0.0.1", String(servers[target].port), "", "0", "5000", "KEYS")
            for key in keys { command = command.with(key) }
            _ = try await clients[source].reply(command, key: keys[0]).get()
        }
        for node in [target, source] { try await command(node, "CLUSTER", "SETSLOT", number, "NODE", targetID) }
    }

    /// The slots in which a master has keys.
    func slotsWithKeys(of number: Int) async -> Set<Int> {
        let reply = try? await clients[number].reply("KEYS", "*").get()
        return Set((reply?.members ?? []).compactMap(\.text).map { ClusterSlots.slot(of: $0.utf8) })
    }

    private func command(_ number: Int, _ words: String...) async throws {
        var command = RedisCommand()
        command.arguments = words.map { Data($0.utf8) }
        let reply = try await clients[number].reply(command).get()
        #expect(reply == .status("OK"), "\(words)")
    }

    /// Asks until it is so, at most a minute, which is longer than the machine that runs the tests is busy with others.
    func wait(_ condition: () async -> Bool) async {
        let end = ContinuousClock.now + .seconds(60)
        while await !condition() {
            guard ContinuousClock.now < end else {
                Issue.record("it did not become true")
                return
            }
            await awaitCompletion { _ = DelaySource.system.after(5_000_000, $0) }
        }
    }
}
