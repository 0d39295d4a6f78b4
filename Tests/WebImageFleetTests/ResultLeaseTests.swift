import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageSupport

@testable import WebImageFleet

/// Machines of one process that want the same result. Leases are so long that a lease which is not released fails the test by its time.
@Suite(
    .tags(.threadSanitizer),
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct ResultLeaseTests {
    private func context(_ transformer: FakeTransformer) -> WebImageContext {
        var context = WebImageContext()
        context.imageTransformer = .transformer(transformer)
        return context
    }

    @Test(arguments: [CachePolicy.immutable, .http])
    func `Of many loads of one result on four machines, one fetches and one decodes`(policy: CachePolicy) async throws {
        let body = [UInt8](try Fleet.image())
        let gate = Gate()
        let headers = [("Cache-Control", "max-age=1000")]
        let fleet = try Fleet { _ in .delayed(gate, then: .response(headers: headers, body: body)) }
        let server = try await RedisServer()
        let machines = try (0..<4).map { fleet.machine("\($0)", try server.store()) }
        for machine in machines { machine.manager.cachePolicy = policy }
        let (url, counting) = (fleet.origin.url("/a.jpg"), FakeTransformer("counting"))
        async let opening: Void = {
            _ = await fleet.origin.wait { requests, _ in requests > 0 }
            gate.open()
        }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<256 {
                group.addTask { _ = try await machines[number % 4].load(url, context: context(counting)) }
            }
            try await group.waitForAll()
        }
        await opening
        #expect(fleet.origin.requestCount() == 1)
        #expect(counting.count == 1)
    }

    @Test func `A lease is released when the load is cancelled`() async throws {
        let body = [UInt8](try Fleet.image())
        let gate = Gate()
        let fleet = try Fleet { request in
            request.header("X-First") == nil ? .response(body: body) : .delayed(gate, then: .response(body: body))
        }
        defer { gate.open() }
        let server = try await RedisServer()
        let machines = try (0..<2).map { fleet.machine("\($0)", try server.store()) }
        machines[0].downloader.setValue("1", forHTTPHeaderField: "X-First")
        let (url, counting) = (fleet.origin.url("/a.jpg"), FakeTransformer("counting"))
        let load = Task { try await machines[0].load(url, context: context(counting)) }
        _ = await fleet.origin.wait { requests, _ in requests > 0 }
        load.cancel()
        _ = try await machines[1].load(url, context: context(counting))
        #expect(fleet.origin.requestCount() == 2)
        #expect(counting.count == 1)
        #expect(await load.result.isFailure)
    }

    @Test func `A lease is released when the bytes are not an image`() async throws {
        let body = [UInt8](try Fleet.image())
        let fleet = try Fleet { request in
            .response(body: request.header("X-First") == nil ? body : [UInt8]("no image".utf8))
        }
        let server = try await RedisServer()
        let machines = try (0..<2).map { fleet.machine("\($0)", try server.store()) }
        machines[0].downloader.setValue("1", forHTTPHeaderField: "X-First")
        let url = fleet.origin.url("/a.jpg")
        await #expect(throws: WebImageError.self) { try await machines[0].load(url) }
        _ = try await machines[1].load(url)
        #expect(fleet.origin.requestCount() == 2)
    }

    @Test func `Nobody waits for an image that is not for others`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet(headers: [("Cache-Control", "private")]))
        let machines = try (0..<4).map { fleet.machine("\($0)", try server.store()) }
        let (url, counting) = (fleet.origin.url("/a.jpg"), FakeTransformer("counting"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines {
                group.addTask { _ = try await machine.load(url, context: context(counting)) }
            }
            try await group.waitForAll()
        }
        #expect(fleet.origin.requestCount() == 4)
        #expect(counting.count == 4)
    }

    @Test func `An owner that declines lets the others go on without the lease`() async throws {
        let server = try await RedisServer()
        let store = try server.store().store
        let leases = ["a", "b"].map { RemoteLease(name: "wi1:{x}:l", owner: $0, milliseconds: 20_000) }
        func acquire(_ lease: RemoteLease) async -> Bool? {
            await withCheckedContinuation { continuation in
                store.acquire(lease) { continuation.resume(returning: $0) }
            }
        }
        #expect(await acquire(leases[0]) == true)
        #expect(await acquire(leases[1]) == false)
        store.decline(leases[1])
        #expect(await acquire(leases[1]) == false, "it was not the owner")
        store.decline(leases[0])
        #expect(await acquire(leases[1]) == nil)
        _ = await RedisClient(server.configuration).reply("DEL", "wi1:{x}:l")
        #expect(await acquire(leases[1]) == true)
        store.release(leases[1])
        #expect(await acquire(leases[0]) == true)
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}

/// A store whose writes are confirmed before they return.
private final class QuickStore: RemoteStore {
    let isReleased = Lock(false)
    let isFlushed = Latch()
    let mostValueByteCount = 1 << 20
    let mostPendingByteCount = 1 << 20

    func read(_ name: String, completion: @escaping @Sendable (RemoteRead) -> Void) { completion(.absent) }

    func write(_ value: Data, as name: String, seconds: Int, completion: @escaping @Sendable (Bool) -> Void) {
        completion(true)
        // Time for a flush that does not wait for the end of the lease.
        _ = isFlushed.wait(seconds: 0.5)
    }

    func remove(_ name: String) {}
    func acquire(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(true) }
    func renew(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) { completion(true) }
    func release(_ lease: RemoteLease) { isReleased.withLock { $0 = true } }
}

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(1)))
struct LeaseEndTests {
    @Test func `A flush waits until the lease has ended, which nobody ends after the program`() async throws {
        let (store, fleet) = (QuickStore(), try Fleet())
        let machine = fleet.machine("1", RemoteImageStore(store))
        _ = try await machine.load(fleet.origin.url("/a.jpg"))
        await machine.cache.flush()
        #expect(store.isReleased.withLock { $0 })
        store.isFlushed.open()
    }
}
