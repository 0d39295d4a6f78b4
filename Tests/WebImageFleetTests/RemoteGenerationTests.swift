import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

/// A store whose generation can be changed and made unreachable.
private final class FakeStore: RemoteStore {
    struct State {
        var generation: String?
        var isReachable = true
        var isSilent = false
        var reads = 0
    }

    let state = Lock(State())
    let generationTimes: RemoteGeneration.Times
    let mostValueByteCount = 1 << 20
    let mostPendingByteCount = 1 << 20

    init(_ times: RemoteGeneration.Times = RemoteGeneration.Times()) { generationTimes = times }

    func generation(orNew new: String, completion: @escaping @Sendable (String?) -> Void) {
        let isSilent = state.withLock { state in
            if state.isSilent { state.reads += 1 }
            return state.isSilent
        }
        if isSilent { return }
        completion(
            state.withLock { state in
                state.reads += 1
                guard state.isReachable else { return nil }
                state.generation = state.generation ?? new
                return state.generation
            }
        )
    }

    func setGeneration(_ new: String, completion: @escaping @Sendable (Bool) -> Void) {
        completion(
            state.withLock { state in
                if state.isReachable { state.generation = new }
                return state.isReachable
            }
        )
    }

    func read(_ name: String, completion: @escaping @Sendable (RemoteRead) -> Void) { completion(.absent) }

    func write(_ value: Data, as name: String, seconds: Int, completion: @escaping @Sendable (Bool) -> Void) {
        completion(false)
    }

    func remove(_ name: String) {}
    func acquire(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(nil) }
    func renew(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(nil) }
    func release(_ lease: RemoteLease) {}
}

@Suite struct RemoteGenerationTests {
    private let store = FakeStore()
    private let clock = ManualClock()

    private func current(_ generation: RemoteGeneration) -> String? {
        let found = Lock<String?>(nil)
        generation.current { value in found.withLock { $0 = value } }
        return found.withLock { $0 }
    }

    @Test func `A generation is read again after a second, and created where there is none`() {
        let machines = (0..<2).map { _ in RemoteGeneration(store, clock: clock.source) }
        let first = current(machines[0])
        #expect(first != nil && first == current(machines[1]))
        for _ in 0..<10 { #expect(current(machines[0]) == first) }
        #expect(store.state.withLock { $0.reads } == 2)
        let isSet = Lock(false)
        machines[1].renew { value in isSet.withLock { $0 = value } }
        #expect(isSet.withLock { $0 })
        let second = current(machines[1])
        #expect(second != first && current(machines[0]) == first, "it has been read a moment ago")
        clock.advance(1)
        #expect(current(machines[0]) == second)
    }

    @Test func `A generation that is costly to read is read again before loads wait for it`() throws {
        let store = FakeStore(S3Store(try S3Client(port: 1), patience: 1).generationTimes)
        let machine = RemoteGeneration(store, clock: clock.source)
        let first = current(machine)
        store.state.withLock { $0.generation = "new" }
        clock.advance(4.9)
        #expect(current(machine) == first && store.state.withLock { $0.reads } == 1)
        clock.advance(0.2)
        #expect(current(machine) == first, "it has been read again for the next load")
        #expect(store.state.withLock { $0.reads } == 2)
        let second = current(machine)
        #expect(second != first && second != nil && store.state.withLock { $0.reads } == 2)
        clock.advance(10)
        store.state.withLock { $0.generation = "newer" }
        #expect(current(machine) != second)
        store.state.withLock { $0.isReachable = false }
        clock.advance(59)
        #expect(current(machine) != nil)
        clock.advance(1)
        #expect(current(machine) == nil)
    }

    @Test func `Without the store, the last one is used for ten seconds`() {
        let generation = RemoteGeneration(store, clock: clock.source)
        let first = current(generation)
        store.state.withLock { $0.isReachable = false }
        clock.advance(9.5)
        #expect(current(generation) == first)
        clock.advance(0.5)
        #expect(current(generation) == nil)
        store.state.withLock { $0.isReachable = true }
        #expect(current(generation) == first)
    }

    @Test func `After a request that was not answered, none waits for the next one`() {
        let generation = RemoteGeneration(store, clock: clock.source)
        let first = current(generation)
        store.state.withLock { $0.isReachable = false }
        clock.advance(1)
        #expect(current(generation) == first)
        store.state.withLock { $0.isSilent = true }
        let reads = store.state.withLock { $0.reads }
        for _ in 0..<3 { #expect(current(generation) == first) }
        #expect(store.state.withLock { $0.reads } == reads + 1, "one request at a time")
    }

    @Test func `A removal that the store has not confirmed makes nothing visible until it is asked again`() {
        let generation = RemoteGeneration(store, clock: clock.source)
        let first = current(generation)
        store.state.withLock { $0.isReachable = false }
        let isSet = Lock(true)
        generation.renew { value in isSet.withLock { $0 = value } }
        #expect(!isSet.withLock { $0 } && current(generation) == nil)
        store.state.withLock { $0.isReachable = true }
        #expect(current(generation) == first)
    }
}

@Suite(
    .tags(.threadSanitizer),
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct RemovalTests {
    @Test func `After a removal of everything, no machine finds an older entry`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let url = fleet.origin.url("/a.jpg")
        let machines = try (0..<3).map { fleet.machine("\($0)", try server.store()) }
        _ = try await machines[0].load(url)
        await machines[0].cache.flush()
        #expect(await server.names().count == 1)
        try await machines[0].cache.removeAll()
        #expect(machines[0].cache.local.diskEntry(forKey: url.absoluteString) == nil)
        // The removed entry is there, but has the name of another generation.
        for machine in machines {
            _ = try await machine.load(url)
            await machine.cache.flush()
        }
        #expect(fleet.origin.requestCount() == 2)
        #expect(await server.names().count == 2)
    }

    @Test func `A removal that the store does not confirm is an error, and clears the machine`() async throws {
        let nobody = try ReservedPort()
        let store = try RemoteImageStore(redis: "redis://127.0.0.1:\(nobody.port)")
        let fleet = try Fleet()
        let (machine, url) = (fleet.machine("1", store), fleet.origin.url("/a.jpg"))
        _ = try await machine.load(url)
        await machine.cache.flush()
        await #expect(throws: WebImageError.self) { try await machine.cache.removeAll() }
        #expect(machine.cache.local.diskEntry(forKey: url.absoluteString) == nil)
        await awaitCompletion { machine.cache.clear(.all, completion: $0) }
        await #expect(throws: WebImageError.self) { try await store.removeAll() }
    }

    @Test func `What one process clears, another does not find`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let store = "redis://127.0.0.1:\(server.port)"
        try await fleet.expectRemoval(from: store)
        await server.kill()
        let run = try await Fleet.clear(store)
        #expect(run.status == 1 && run.errors.contains("did not answer"), "\(run.errors)")
    }
}
