import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(3)), .enabled(if: S3Server.isInstalled, "\(S3Server.absence)"))
struct S3ReportTests {
    @Test func `Hits, misses and bytes of all machines are in the bucket, and its values are counted`() async throws {
        let fleet = try Fleet()
        let client = try await S3Server.shared.value.client(prefix: "a b/\(UUID().uuidString)")
        let store = RemoteImageStore(S3Store(client, patience: 20_000_000_000))
        let empty = try await store.report()
        #expect(empty.statistics == RemoteStatistics() && empty.valueCount == 0 && empty.valueByteCount == 0)
        let machines = [fleet.machine("1", store), fleet.machine("2", store)]
        for machine in machines {
            for name in ["a", "b"] { _ = try await machine.load(fleet.origin.url("/\(name).jpg")) }
            await machine.cache.flush()
        }
        let report = try await store.report()
        #expect(report.statistics.hitCount == 2 && report.statistics.missCount == 2)
        let count = try Fleet.image().count
        #expect(report.statistics.storeCount == 2 && report.statistics.readByteCount == 2 * count)
        #expect(report.valueCount == 2 && report.valueByteCount == report.statistics.storedByteCount)
        #expect(!report.isEstimate && report.replyTime > 0 && report.serverMemory == nil)
    }

    @Test func `Machines that add at the same moment lose no counts`() async throws {
        let client = try await S3Server.shared.value.client()
        await withTaskGroup(of: Void.self) { group in
            for machine in 1...6 {
                group.addTask {
                    let store = S3Store(client, patience: 20_000_000_000)
                    for _ in 0..<5 {
                        // As a process does with counts that were not taken.
                        while await !store.added([("hits", machine), ("other", 1)]) {}
                    }
                }
            }
        }
        let bytes = try await client.result("GET", S3Store.countsName).get()
        #expect(S3Counts(document: bytes)?.sums == ["hits": 105, "other": 30])
    }

    @Test func `The command reports what is in a bucket`() async throws {
        let (directory, fleet) = (TemporaryDirectory(), try Fleet())
        let port = try await S3Server.shared.value.port
        let store = "s3://fleet/\(UUID().uuidString)?endpoint=http://127.0.0.1:\(port)"
        func webimage(_ arguments: [String], _ settings: [String: String] = S3Server.settings) async throws
            -> ProgramRun
        {
            try await ProgramRun.run(ProgramRun.product("webimage"), arguments, environment: settings)
        }
        for name in ["1", "2"] {
            let place = ["-o", directory.path("\(name).png"), "--cache-dir", directory.path(name)]
            let source = fleet.origin.url("/a.jpg").absoluteString
            let run = try await webimage(["get", source, "--remote-cache", store] + place)
            #expect(run.status == 0, "\(run.errors)")
        }
        let text = try await webimage(["cache", "stats", "--remote", store])
        #expect(text.output.contains("all processes: 1 hits (") && text.output.contains(", 1 misses"), "\(text.output)")
        #expect(text.output.contains("values now: 1, ") && text.output.contains("the circuit is closed"))
        let json = try await webimage(["cache", "stats", "--remote", store, "--json"])
        #expect(json.output.contains("\"hits\":1,") && json.output.contains("\"values\":1"), "\(json.output)")
        let bare = try await webimage(["cache", "stats", "--remote", store], ["AWS_EC2_METADATA_DISABLED": "true"])
        #expect(bare.status == 1 && bare.errors.contains("no credentials"), "\(bare.errors)")
        let wrong = ["AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "wrong"]
        #expect(try await webimage(["cache", "stats", "--remote", store], wrong).status == 1)
    }
}

/// Services with gaps, and documents of any kind.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(2)))
struct S3CountsTests {
    @Test func `A service without conditional writes gets no sums`() async throws {
        let bucket = try FakeBucket { request in
            request.header("if-match") ?? request.header("if-none-match") != nil ? .response(501) : nil
        }
        let store = try bucket.store()
        for _ in 0..<2 { #expect(await store.added([("hits", 1)])) }
        #expect(bucket.object(S3Store.countsName) == nil)
        #expect(bucket.server.requestCount() == 2)
        #expect(try await store.report().statistics == RemoteStatistics())
    }

    @Test func `An object that changes meanwhile is read again, for a few times`() async throws {
        let refusals = Lock(3)
        let bucket = try FakeBucket { request in
            guard request.method == "PUT" else { return nil }
            return refusals.withLock { count in
                count -= 1
                return count >= 0 ? .response(409) : nil
            }
        }
        let store = try bucket.store()
        #expect(await store.added([("hits", 2)]))
        #expect(try await store.report().statistics.hitCount == 2)
        refusals.withLock { $0 = .max }
        #expect(await !store.added([("hits", 2)]))
        refusals.withLock { $0 = 0 }
        #expect(await store.added([("hits", 2)]))
        #expect(try await store.report().statistics.hitCount == 4)
    }

    @Test func `Counts that may have been added are not added again`() async throws {
        let bucket = try FakeBucket { $0.method == "PUT" ? .closeWithoutAnswer : nil }
        #expect(try await bucket.store().added([("hits", 1)]))
        let gone = try FakeBucket { _ in .closeWithoutAnswer }
        #expect(try await !gone.store().added([("hits", 1)]))
    }

    @Test func `Something else with the name of the sums is replaced`() async throws {
        let bucket = try FakeBucket()
        let client = try bucket.client()
        for body in ["no JSON", "{\"hits\":-1}", String(repeating: "x", count: 10_000)] {
            #expect(await client.result("PUT", S3Store.countsName, Data(body.utf8)) == .success(Data()))
            #expect(try await bucket.store().added([("hits", 1)]))
            #expect(bucket.object(S3Store.countsName)?.body == Array("{\"hits\":1}".utf8))
        }
    }

    @Test func `A circuit that is open is known to the cache, and an error of a report`() async throws {
        let (nobody, fleet) = (try ReservedPort(), try Fleet())
        let client = try S3Client(port: nobody.port)
        let store = RemoteImageStore(S3Store(client, patience: 20_000_000_000))
        let machine = fleet.machine("1", store)
        for number in 0..<10 { _ = try await machine.load(fleet.origin.url("/\(number)")) }
        #expect(machine.cache.openCircuitCount == 1 && machine.cache.statistics.circuitOpeningCount >= 1)
        await #expect(throws: WebImageError.self) { try await store.report() }
        await machine.cache.flush()
    }

    @Test func `Sums have an end, and keep those of other versions`() throws {
        var sums = try #require(S3Counts(document: Data(#"{"hits":9223372036854775807,"newer":5}"#.utf8)))
        sums.add([("hits", 3), ("misses", 4), ("read", -1)])
        #expect(sums.sums == ["hits": .max, "newer": 5, "misses": 4, "read": 0])
        #expect(S3Counts(document: sums.document) == sums)
        #expect(sums.statistics.missCount == 4)
    }

    @Test(arguments: ["", "[]", "{}x", #"{"a":1.5}"#, #"{"a":"b"}"#, #"{"a":99999999999999999999}"#, "{\"a\":-1}"])
    func `Other documents are no sums`(document: String) {
        #expect(S3Counts(document: Data(document.utf8)) == nil)
    }
}

@Suite(.tags(.addressSanitizer)) struct S3ListTests {
    private func list(_ names: [String], isTruncated: Bool, size: Int = 100) -> S3List? {
        let objects = names.map { name in
            "<Contents><Key>p/wi1/\(name)</Key><ETag>&quot;x&quot;</ETag><Size>\(size)</Size></Contents>"
        }
        let head = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\"><IsTruncated>\(isTruncated)</IsTruncated>"
        return S3List(document: Data((head + objects.joined(separator: "\n") + "</ListBucketResult>").utf8))
    }

    private func names(_ count: Int) -> [String] {
        (0..<count).map { Hashing.md5Hex("\($0)") }.sorted()
    }

    @Test func `All entries of a short list are counted, and nothing else`() throws {
        let found = try #require(list(names(10) + ["x", "ABCDEF" + names(1)[0].dropFirst(6)], isTruncated: false))
        #expect(found.estimate?.count == 10 && found.estimate?.byteCount == 1000 && !found.isTruncated)
        #expect(try #require(list([], isTruncated: false)).estimate?.count == 0)
    }

    @Test(arguments: [1200, 50_000])
    func `The first thousand say how many there are`(count: Int) throws {
        let found = try #require(list(Array(names(count).prefix(1000)), isTruncated: true))
        let estimate = try #require(found.estimate)
        #expect(abs(estimate.count - count) < count / 8 && abs(estimate.byteCount - 100 * count) < 100 * count / 8)
    }

    @Test func `Names in another order say nothing`() throws {
        #expect(try #require(list(names(10).reversed(), isTruncated: true)).estimate == nil)
        #expect(try #require(list([], isTruncated: true)).estimate == nil)
        let zeros = String(repeating: "0", count: 32)
        #expect(try #require(list([zeros], isTruncated: true)).estimate == nil)
        let first = "00000000000010000000000000000000"
        let huge = try #require(list([first], isTruncated: true, size: 9_999_999_999_999))
        #expect(huge.estimate?.byteCount == Int(1e18))
    }

    @Test(arguments: ["", "<html>", "ListBucketResult", "<Contents><Key>x</Key></Contents>", "<ListBucketResult"])
    func `Other documents are no lists`(document: String) { #expect(S3List(document: Data(document.utf8)) == nil) }
}

extension S3Store {
    func added(_ counts: [(name: String, count: Int)]) async -> Bool {
        await awaitCompletion { add(counts, completion: $0) }
    }
}
