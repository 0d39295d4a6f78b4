import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageSupport

@testable import WebImageFleet
@testable import WebImageLoading

/// Loads of two machines while their store fails in three ways.
///
/// Each of seven phases has a seventh of 100 000 loads, or as many as fit in 8 seconds. With `WEBIMAGE_FLEET_LOADS=100000` it has all of
/// them, and the limits of time are those of an idle machine.
@Suite(.timeLimit(.minutes(20)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct FleetLoadTests {
    private static let count = ProcessInfo.processInfo.environment["WEBIMAGE_FLEET_LOADS"].flatMap { Int($0) }
    private static let phases = 7

    @Test func `Loads have no errors and the right images while the store is killed, stopped or a black hole`()
        async throws
    {
        let server = try await RedisServer("--maxmemory", "256mb", "--maxmemory-policy", "allkeys-lru")
        let proxy = try FaultyProxy(to: server.port)
        // On a busy machine, no reply might come within the usual timeout.
        let timeout = Self.count == nil ? 0.2 : 0.02
        // Without a pause between loads, both processors would be busy all the time.
        let pause = Self.count == nil ? 0.03 : 0
        let load = try FleetLoad(storePorts: [proxy.port, proxy.port], timeout: timeout, pause: pause)
        let total = Self.count ?? TestEffort.rounds(100_000)
        let seconds = Self.count == nil ? 8.0 / (TestEffort.rounds(4) == 4 ? 1 : 4) : 600
        let workers = Task { await load.run(workers: Self.count == nil ? 4 : 16) }
        func phase(_ number: Int) async { await load.reach(total * number / Self.phases, seconds: seconds) }
        await phase(1)
        await server.kill()
        await phase(2)
        try await server.start()
        await expectUse(of: load)
        await phase(3)
        server.pause()
        await phase(4)
        server.resume()
        await expectUse(of: load)
        await phase(5)
        proxy.setBlackHole(true)
        await phase(6)
        proxy.setBlackHole(false)
        await expectUse(of: load)
        await phase(7)
        load.stop()
        await workers.value
        let counts = load.counts
        #expect(counts.errors == 0 && counts.wrong == 0, "\(counts)")
        #expect(counts.fromStore > 0 && counts.loads >= (Self.count ?? 1))
        if Self.count != nil { print("fleet loads: \(counts)") }
    }

    /// Waits until both machines read from the store again.
    private func expectUse(of load: FleetLoad) async {
        let start = ContinuousClock.now
        await load.waitForUse()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        // The pause of the breaker is at most 1.5 seconds. Other tests may keep the machine busy.
        #expect(seconds < (Self.count == nil ? 20 : 2))
        if Self.count != nil { print("store used again after \(seconds) s") }
    }
}

/// Values that somebody else has written.
@Suite(
    .tags(.threadSanitizer),
    .timeLimit(.minutes(3)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct MutatedValueTests {
    private let directory = TemporaryDirectory()

    @Test func `Of 10000 mutated values in the store none is used`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(server.configuration)
        let local = ImageCache(namespace: "mutated", directory: directory.path)
        let cache = TieredImageCache(local: local, remote: try server.store())
        let names = try await server.trustedNames()
        let count = TestEffort.rounds(10_000)
        var random = SeededGenerator(seed: 33)
        let values = try (0..<count).map { number in
            try Self.mutated(number, &random)
        }
        // Some are right, so that the test sees that those are used.
        let used = try await withThrowingTaskGroup(of: Bool.self) { group in
            var used = 0
            for number in 0..<count {
                if number >= 64, try await group.next() == true { used += 1 }
                group.addTask {
                    let key = Self.key(number)
                    let command = RedisCommand("SET", names.entry(forKey: key)).with(values[number])
                    guard await client.reply(command) == .success(.status("OK")) else {
                        throw RedisServer.StartFailure()
                    }
                    let query = ImageCacheQuery(key: key, sharingScope: "trusted")
                    let entry: CachedImageData? = await awaitCompletion { _ = cache.queryDisk(query, completion: $0) }
                    if number % 1000 == 0 { #expect(entry?.data == Self.body(number)) }
                    return entry != nil
                }
            }
            for try await isUsed in group where isUsed { used += 1 }
            return used
        }
        #expect(used == (count + 999) / 1000)
    }

    private static let bodies = (0..<256).map { number in
        Data((0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ number) })
    }

    private static func body(_ number: Int) -> Data { bodies[number % 256] }

    private static func key(_ number: Int) -> String { "https://example.com/\(number).jpg" }

    /// A value that is damaged, or that of another key; each thousandth is right.
    private static func mutated(_ number: Int, _ random: inout SeededGenerator) throws -> Data {
        func value(_ number: Int) throws -> Data {
            try #require(EntryFile.encode(CachedImageData(data: body(number)), forKey: key(number), created: 1))
        }
        var result = try value(number)
        let right = result
        guard number % 1000 != 0 else { return result }
        switch number % 7 {
        case 0: return try value(number + 1)
        case 1: return result.prefix(Int.random(in: 0..<result.count, using: &random))
        case 2:
            result.insert(
                UInt8.random(in: 0...255, using: &random),
                at: Int.random(in: 0...result.count, using: &random)
            )
        case 3: result.remove(at: Int.random(in: 0..<result.count, using: &random))
        case 4: return try value(number + 1).prefix(1000) + result.suffix(result.count - 1000)
        case 5:
            // The lengths, times and hashes are in the last bytes.
            for _ in 0..<3 {
                result[result.count - Int.random(in: 1...56, using: &random)] ^= .random(in: 1...255, using: &random)
            }
        default: result[Int.random(in: 0..<result.count, using: &random)] ^= .random(in: 1...255, using: &random)
        }
        return result == right ? Data() : result
    }
}
