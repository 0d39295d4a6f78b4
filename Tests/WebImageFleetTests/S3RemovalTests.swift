import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

/// The generation of a bucket at services that have gaps.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2)))
struct S3GenerationTests {
    private func generation(_ store: S3Store, orNew new: String) async -> String? {
        await awaitCompletion { store.generation(orNew: new, completion: $0) }
    }

    private func set(_ new: String, _ store: S3Store) async -> Bool {
        await awaitCompletion { store.setGeneration(new, completion: $0) }
    }

    @Test func `The first of several machines writes the generation`() async throws {
        let bucket = try FakeBucket()
        let stores = try (0..<8).map { _ in try bucket.store() }
        let found = await withTaskGroup(of: String?.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask { await generation(store, orNew: "g\(number)") }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && found.first != .some(nil))
        #expect(await set("new", stores[0]))
        #expect(await generation(stores[1], orNew: "other") == "new")
    }

    @Test(arguments: [true, false])
    func `Without conditional writes, machines agree when they read it again`(isRefused: Bool) async throws {
        let bucket = try FakeBucket(ignoring: ["if-none-match"]) { request in
            isRefused && request.header("if-none-match") != nil ? .response(501) : nil
        }
        let stores = try (0..<2).map { _ in try bucket.store() }
        async let first = generation(stores[0], orNew: "a")
        async let second = generation(stores[1], orNew: "b")
        let found = await [first, second]
        #expect(found.allSatisfy { ["a", "b"].contains($0) })
        let agreed = await generation(stores[0], orNew: "c")
        #expect(await generation(stores[1], orNew: "d") == agreed && agreed != "c" && agreed != nil)
    }

    @Test(arguments: [[], [UInt8](repeating: 7, count: 100_000)])
    func `Something else with the name of the generation is replaced`(body: [UInt8]) async throws {
        let bucket = try FakeBucket { request in
            // As S3 responds to a range of an empty object.
            request.method == "GET" && body.isEmpty && request.header("range") == "bytes=0-63" ? .response(416) : nil
        }
        let client = try bucket.client()
        #expect(await client.result("PUT", S3Store.generationName, Data(body)) == .success(Data()))
        #expect(await generation(try bucket.store(), orNew: "a") == "a")
        #expect(bucket.object(S3Store.generationName)?.body == Array("a".utf8))
    }

    @Test func `A bucket that takes long to write costs a load its timeout, and has a generation later`() async throws {
        let gate = Gate()
        let bucket = try FakeBucket { request in
            if request.method == "PUT" { gate.wait() }
            return nil
        }
        let store = try bucket.store(patience: 200_000_000)
        #expect(await generation(store, orNew: "a") == nil)
        gate.open()
        try await waitUntil { await generation(store, orNew: "b") == "a" }
    }

    @Test func `A removal that the bucket does not confirm is an error`() async throws {
        let bucket = try FakeBucket { request in request.method == "PUT" ? .response(403) : nil }
        let store = RemoteImageStore(try bucket.store())
        await #expect(throws: WebImageError.self) { try await store.removeAll() }
        #expect(bucket.object(S3Store.generationName) == nil)
    }
}

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(3)), .enabled(if: S3Server.isInstalled, "\(S3Server.absence)"))
struct S3RemovalTests {
    @Test func `After a removal of everything, no machine finds an older entry in the bucket`() async throws {
        let fleet = try Fleet()
        let client = try await S3Server.shared.value.client()
        let url = fleet.origin.url("/a.jpg")
        let machines = (0..<3).map { number in
            fleet.machine("\(number)", RemoteImageStore(S3Store(client, patience: 20_000_000_000)))
        }
        _ = try await machines[0].load(url)
        await machines[0].cache.flush()
        let before = try await RemoteImageStore(S3Store(client, patience: 20_000_000_000)).trustedNames()
        try await machines[0].cache.removeAll()
        #expect(machines[0].cache.local.diskEntry(forKey: url.absoluteString) == nil)
        for machine in machines {
            _ = try await machine.load(url)
            await machine.cache.flush()
        }
        #expect(fleet.origin.requestCount() == 2)
        let after = try await RemoteImageStore(S3Store(client, patience: 20_000_000_000)).trustedNames()
        #expect(before != after)
        for names in [before, after] {
            let name = S3Store.objectName(names.entry(forKey: url.absoluteString))
            #expect(EntryFile.decode(try await client.result("GET", name).get(), forKey: url.absoluteString) != nil)
        }
    }

    @Test func `What one process clears, another does not find in the bucket`() async throws {
        let fleet = try Fleet()
        let port = try await S3Server.shared.value.port
        let store = "s3://fleet/\(UUID().uuidString)?endpoint=http://127.0.0.1:\(port)"
        try await fleet.expectRemoval(from: store, environment: S3Server.settings)
        let nobody = try ReservedPort()
        let gone = "s3://fleet?endpoint=http://127.0.0.1:\(nobody.port)"
        let run = try await Fleet.clear(gone, environment: S3Server.settings)
        #expect(run.status == 1 && run.errors.contains("did not answer"), "\(run.errors)")
    }
}
