import Foundation
import TestSupport
import Testing

@testable import WebImageFleet

/// Loads of three machines from a cluster of three masters and three replicas.
///
/// With `WEBIMAGE_FLEET_LOADS`, the limit of ten seconds counts from the death of a master, not from the election of the next one, and the
/// store has its usual timeout: both need an idle machine.
@Suite(
    .tags(.threadSanitizer),
    .timeLimit(.minutes(5)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct RedisClusterLoadTests {
    private static let isExact = ProcessInfo.processInfo.environment["WEBIMAGE_FLEET_LOADS"] != nil

    @Test func `No load fails, and hits are back within 10 seconds after each election of a master, and a reshard`()
        async throws
    {
        // The timeout that the guide recommends.
        let cluster = try await RedisCluster(replicas: 3, nodeTimeout: 2000)
        let ports = cluster.servers.prefix(3).map(\.port)
        let (timeout, pause) = Self.isExact ? (0.02, 0.004) : (1, 0.03)
        let load = try FleetLoad(storePorts: ports, timeout: timeout, pause: pause)
        defer { load.stop() }
        let workers = Task { await load.run(workers: 6) }
        // Each image has to be made once. Loads are counted, not seconds: they take as long as the machine is busy with others.
        var ratio = 0.0
        for _ in 0..<20 where ratio <= 0.98 { ratio = await load.hitRatio(of: 400) }
        #expect(ratio > 0.98)
        let before = await load.hitRatio(of: TestEffort.rounds(2000))
        #expect(before > 0.95)

        var masters = [0, 1, 2]
        for master in TestEffort.some(of: 0..<3) {
            let killed = ContinuousClock.now
            await cluster.servers[master].kill()
            await cluster.waitForElection(of: master + 3)
            let elected = ContinuousClock.now
            report("master \(master): the next one was elected \((elected - killed) / .seconds(1)) s after the death")
            await expectHits(of: load, asBefore: before, since: Self.isExact ? killed : elected, "master \(master)")
            masters[master] = master + 3
            try await cluster.servers[master].start()
            await cluster.waitForReplication(of: master)
        }

        // The third of the images that one master has goes to another one.
        let slots = await cluster.slotsWithKeys(of: masters[0])
        #expect(slots.count > 50)
        let start = load.counts
        for slot in slots { try await cluster.move(slot, from: masters[0], to: masters[1]) }
        let moved = ContinuousClock.now
        report("\(slots.count) slots moved")
        let end = load.counts
        report("\(end.fromStore - start.fromStore) of \(end.loads - start.loads) loads were hits while slots moved")
        await expectHits(of: load, asBefore: before, since: moved, "moved slots")
        // An image that was missing when the slots were listed may have come to another slot since.
        #expect(await cluster.slotsWithKeys(of: masters[0]).isDisjoint(with: slots))

        load.stop()
        await workers.value
        let counts = load.counts
        #expect(counts.errors == 0 && counts.wrong == 0, "\(counts)")
        report("\(counts)")
    }

    /// Expects that the share of hits is at least 95 % of what it was, within ten seconds, and that it stays so.
    private func expectHits(
        of load: FleetLoad,
        asBefore before: Double,
        since start: ContinuousClock.Instant,
        _ event: String
    ) async {
        let seconds = await load.secondsToHits(of: 200, ratio: 0.95 * before, since: start) ?? .infinity
        #expect(seconds <= 10, "\(event): \(seconds) s until hits were back, \(before) before")
        let ratio = await load.hitRatio(of: TestEffort.rounds(1000))
        #expect(ratio >= 0.95 * before, "\(event): it does not stay so: \(ratio)")
        report("\(event): hits were back after \(seconds) s")
    }

    private func report(_ text: String) { if Self.isExact { print("fleet cluster: \(text)") } }
}
