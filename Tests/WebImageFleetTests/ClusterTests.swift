import Foundation
import Testing

@testable import WebImageFleet

@Suite struct ClusterTests {
    private func slot(_ key: String) -> Int { ClusterSlots.slot(of: Array(key.utf8)) }

    /// The first is the check value of CRC-16/XMODEM, the others are what `CLUSTER KEYSLOT` of Redis 7.0.15 returns.
    @Test func `Slots are those of Redis`() {
        #expect(ClusterSlots.crc16("123456789".utf8) == 0x31C3)
        #expect(slot("123456789") == 12739)
        #expect(slot("foo") == 12182)
        #expect(slot("bar") == 5061)
        #expect(slot("") == 0)
    }

    @Test func `The first text in braces is the key of the slot`() {
        #expect(slot("{user1000}.following") == slot("user1000"))
        #expect(slot("a{b}c{d}") == slot("b"))
        #expect(slot("foo{{bar}}zap") == slot("{bar"))
        // An empty one is not, nor one without an end.
        #expect(slot("foo{}{bar}") == Int(ClusterSlots.crc16("foo{}{bar}".utf8)) % 16384)
        #expect(slot("foo{bar") == Int(ClusterSlots.crc16("foo{bar".utf8)) % 16384)
        #expect(slot("}{a}") == slot("a"))
    }

    @Test func `All names of an entry are in one slot`() {
        let names = RemoteNames(namespace: "n")
        #expect(slot(names.entry(forKey: "k")) == slot(names.lease(forKey: "k")))
    }

    private let first = RedisEndpoint(host: "10.0.0.1", port: 7000)
    private let second = RedisEndpoint(host: "10.0.0.2", port: 7001)

    private func node(_ host: RESPValue, _ port: Int64) -> RESPValue {
        .array([host, .number(port), .bytes(Data("id".utf8))])
    }

    private func text(_ text: String) -> RESPValue { .bytes(Data(text.utf8)) }

    @Test func `The table of slots is read, and changes with each move`() throws {
        let reply = RESPValue.array([
            .array([.number(0), .number(5460), node(text("10.0.0.1"), 7000), node(text("10.0.0.9"), 7009)]),
            .array([.number(5461), .number(16383), node(text("10.0.0.2"), 7001)]),
        ])
        var slots = try #require(ClusterSlots(reply, from: first))
        #expect(slots.masters == [first, second])
        #expect(slots.master(of: 0) == first)
        #expect(slots.master(of: 5460) == first)
        #expect(slots.master(of: 5461) == second)
        #expect(slots.master(of: 16383) == second)
        #expect(slots.master(of: 16384) == nil)
        #expect(slots.master(of: -1) == nil)
        let third = RedisEndpoint(host: "10.0.0.3", port: 7002)
        slots.move(0, to: third)
        slots.move(16384, to: third)
        #expect(slots.master(of: 0) == third)
        #expect(slots.master(of: 1) == first)
    }

    @Test func `A node that does not know its host is the one that replied`() throws {
        for host in [text(""), .null, text("?")] {
            let reply = RESPValue.array([.array([.number(1), .number(1), node(host, 7005)])])
            let slots = try #require(ClusterSlots(reply, from: first))
            #expect(slots.master(of: 1) == RedisEndpoint(host: "10.0.0.1", port: 7005))
            #expect(slots.master(of: 0) == nil)
        }
    }

    @Test func `Other replies are no table`() {
        let bad: [RESPValue] = [
            .null, .status("OK"), .array([.null]), .array([.array([.number(0), .number(1)])]),
            .array([.array([.number(-1), .number(1), node(text("h"), 1)])]),
            .array([.array([.number(2), .number(1), node(text("h"), 1)])]),
            .array([.array([.number(0), .number(16384), node(text("h"), 1)])]),
            .array([.array([.number(0), .number(.max), node(text("h"), 1)])]),
            .array([.array([.number(0), .number(1), node(text("h"), 0)])]),
            .array([.array([.number(0), .number(1), node(text("h"), 65536)])]),
            .array([.array([.number(0), .number(1), .array([])])]),
            .array([.array([.number(0), .number(1), .null])]),
        ]
        for reply in bad { #expect(ClusterSlots(reply, from: first) == nil, "\(reply)") }
    }

    @Test func `A server that names ever new masters fills no memory`() {
        var slots = ClusterSlots()
        for port in 1...2000 { slots.move(port, to: RedisEndpoint(host: "h", port: UInt16(port))) }
        #expect(slots.masters.count == 1000)
        #expect(slots.master(of: 2000) == nil)
    }

    @Test func `Errors of servers are told apart`() {
        let endpoint = RedisEndpoint(host: "127.0.0.1", port: 6381)
        #expect(RedisRefusal("MOVED 3999 127.0.0.1:6381") == .moved(slot: 3999, endpoint))
        #expect(RedisRefusal("ASK 3999 127.0.0.1:6381") == .ask(slot: 3999, endpoint))
        #expect(RedisRefusal("MOVED 1 :6381") == .moved(slot: 1, RedisEndpoint(host: "", port: 6381)))
        #expect(RedisRefusal("MOVED 1 fe80::1:6381") == .moved(slot: 1, RedisEndpoint(host: "fe80::1", port: 6381)))
        #expect(RedisRefusal("MOVED 1 [::1]:6381") == .moved(slot: 1, RedisEndpoint(host: "::1", port: 6381)))
        for bad in [
            "MOVED", "MOVED 1", "MOVED x h:1", "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED 1 h", "MOVED 1 h:0",
            "MOVED 1 h:70000",
        ] {
            #expect(RedisRefusal(bad) == .other("MOVED"), "\(bad)")
        }
        #expect(RedisRefusal("TRYAGAIN Multiple keys") == .tryAgain)
        #expect(RedisRefusal("CLUSTERDOWN The cluster is down") == .clusterDown)
        #expect(RedisRefusal("LOADING Redis is loading") == .loading)
        #expect(RedisRefusal("MASTERDOWN Link") == .loading)
        #expect(RedisRefusal("READONLY You can't write") == .readOnly)
        #expect(RedisRefusal("OOM command not allowed") == .outOfMemory)
        #expect(RedisRefusal("WRONGPASS invalid") == .denied)
        #expect(RedisRefusal("NOAUTH Authentication required.") == .denied)
        #expect(RedisRefusal("NOPERM User anna has no permissions") == .forbidden)
        #expect(RedisRefusal("NOSCRIPT No") == .noScript)
        #expect(RedisRefusal("") == .other(""))
        #expect(RedisRefusal("ERR syntax") == .other("ERR"))
    }

    @Test func `A refusal leads to a bounded number of attempts`() {
        let moved = RedisRefusal.moved(slot: 1, first)
        #expect(moved.reaction(afterAttempts: 1) == .redirect(slot: 1, first))
        #expect(moved.reaction(afterAttempts: 3) == .redirect(slot: 1, first))
        #expect(moved.reaction(afterAttempts: 4) == .failNode)
        #expect(RedisRefusal.ask(slot: 1, second).reaction(afterAttempts: 1) == .askOnce(second))
        #expect(RedisRefusal.ask(slot: 1, second).reaction(afterAttempts: 4) == .failNode)
        #expect(RedisRefusal.tryAgain.reaction(afterAttempts: 1) == .retryOnce)
        #expect(RedisRefusal.tryAgain.reaction(afterAttempts: 2) == .failCommand)
        for refusal in [RedisRefusal.clusterDown, .loading, .readOnly, .outOfMemory, .denied] {
            #expect(refusal.reaction(afterAttempts: 1) == .failNode)
        }
        #expect(RedisRefusal.other("ERR").reaction(afterAttempts: 1) == .failCommand)
        #expect(RedisRefusal.forbidden.reaction(afterAttempts: 1) == .failCommand)
        #expect(RedisRefusal.noScript.reaction(afterAttempts: 1) == .failCommand)
    }
}
