import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet

/// Against moto, and a check of each signature by botocore's signer.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(3)), .enabled(if: S3Server.isInstalled, "\(S3Server.absence)"))
struct S3ClientTests {
    @Test(arguments: ["path", "virtual"])
    func `Objects are written, read, read in part and deleted, in both styles`(style: String) async throws {
        let client = try await S3Server.shared.value.client(style: style)
        let value = Data(pattern(300_000))
        #expect(await client.result("GET", "a") == .failure(.refused(.absent)))
        #expect(await client.result("PUT", "a", value) == .success(Data()))
        #expect(await client.result("GET", "a") == .success(value))
        let range = ["range": "bytes=0-\(S3Client.mostBytes - 1)"]
        #expect(await client.result("GET", "a", fields: range) == .success(value))
        #expect(await client.result("GET", "a", fields: ["range": "bytes=0-9"]) == .failure(.tooLarge))
        #expect(await client.result("DELETE", "a") == .success(Data()))
        #expect(await client.result("GET", "a") == .failure(.refused(.absent)))
    }

    @Test(arguments: ["a b", "ä/ö", "x+y=z&q?#%", "wi1:{0}", "'()*!$,;@~", "日本"])
    func `Names are encoded as the signature requires`(name: String) async throws {
        let client = try await S3Server.shared.value.client()
        #expect(await client.result("PUT", name, Data(name.utf8)) == .success(Data()))
        #expect(await client.result("GET", name) == .success(Data(name.utf8)))
    }

    @Test func `A bucket with a dot and a prefix with signs work`() async throws {
        let client = try await S3Server.shared.value.client(bucket: "fle.et", prefix: "a%20b/c%2Bd")
        #expect(client.configuration.prefix == "a b/c+d/")
        #expect(await client.result("PUT", "x", Data([1])) == .success(Data()))
        #expect(await client.result("GET", "x") == .success(Data([1])))
    }

    @Test func `A conditional write does not replace an object`() async throws {
        let client = try await S3Server.shared.value.client()
        let fields = ["if-none-match": "*"]
        #expect(await client.result("PUT", "a", Data([1]), fields: fields) == .success(Data()))
        #expect(await client.result("PUT", "a", Data([2]), fields: fields) == .failure(.refused(.exists)))
        #expect(await client.result("GET", "a") == .success(Data([1])))
    }

    @Test func `Temporary credentials send their token`() async throws {
        let settings = [
            "AWS_ACCESS_KEY_ID": "ASIATEMPORARY", "AWS_SECRET_ACCESS_KEY": "other", "AWS_SESSION_TOKEN": "to/ken+1==",
        ]
        let client = try await S3Server.shared.value.client(settings)
        #expect(await client.result("PUT", "a", Data([1])) == .success(Data()))
    }

    @Test func `A wrong secret fails and opens the circuit`() async throws {
        let settings = ["AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "wrong"]
        let client = try await S3Server.shared.value.client(settings)
        for _ in 0..<5 { #expect(await client.result("GET", "a") == .failure(.refused(.storeFailure))) }
        #expect(await client.result("GET", "a") == .failure(.unavailable))
    }

    @Test func `Credentials that the store refuses are read again, once for a request`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path("credentials")
        func write(_ keyID: String, _ secret: String, _ token: String) throws {
            let text =
                "[default]\naws_access_key_id=\(keyID)\naws_secret_access_key=\(secret)\naws_session_token=\(token)"
            try Data(text.utf8).write(to: URL(filePath: path))
        }
        try write("ASIAEXPIRED", "former", "old")
        let client = try await S3Server.shared.value.client(["AWS_SHARED_CREDENTIALS_FILE": path])
        #expect(await client.result("PUT", "a", Data([1])) == .failure(.unavailable), "they are read once in a second")
        try write("ASIATEMPORARY", "other", "to/ken+1==")
        #expect(await becomes { await client.result("PUT", "a", Data([1])) == .success(Data()) })
        #expect(await client.result("GET", "a") == .success(Data([1])))
    }

    @Test func `A store that was found empty writes once, and replaces what it has read`() async throws {
        let client = try await S3Server.shared.value.client()
        let (first, second) = (S3Store(client, patience: 20_000_000_000), S3Store(client, patience: 20_000_000_000))
        #expect(await first.value("wi1:{a}") == .absent)
        #expect(await second.value("wi1:{a}") == .absent)
        #expect(await first.write(Data([1]), as: "wi1:{a}"))
        #expect(await second.write(Data([2]), as: "wi1:{a}"))
        #expect(await second.value("wi1:{a}") == .value(Data([1])))
        #expect(await second.write(Data([3]), as: "wi1:{a}"))
        #expect(await first.value("wi1:{a}") == .value(Data([3])))
        #expect(await client.result("GET", "wi1/a") == .success(Data([3])))
    }

    @Test func `Changes of one object take effect in their order`() async throws {
        let client = try await S3Server.shared.value.client()
        let store = S3Store(client, patience: 20_000_000_000)
        for number in UInt8(0)..<5 {
            #expect(await store.write(Data([number]), as: "wi1:{a}"))
            store.write(Data([100 + number]), as: "wi1:{a}", seconds: 10) { _ in }
            store.remove("wi1:{a}")
            #expect(await store.write(Data([number, number]), as: "wi1:{a}"))
            #expect(await store.value("wi1:{a}") == .value(Data([number, number])))
        }
    }

    @Test func `There are no leases`() async throws {
        let store = S3Store(try S3Client(port: 1), patience: 1)
        let lease = RemoteLease(name: "a", owner: "b", milliseconds: 1)
        let taken: Bool? = await awaitCompletion { store.acquire(lease, completion: $0) }
        #expect(taken == nil)
    }

    @Test func `A server that stands still costs the deadline, and is used when it goes on; one that was killed fails`()
        async throws
    {
        let server = try await S3Server()
        var health = NodeHealth.Rules()
        // Longer than the machine that runs the tests is busy with others.
        health.pause = 500_000_000
        let client = try server.client(health: health)
        #expect(await client.result("PUT", "a", Data([1])) == .success(Data()))
        server.pause()
        for _ in 0..<5 { #expect(await client.result("GET", "a", patience: 0.02) == .failure(.late)) }
        #expect(await client.result("GET", "a") == .failure(.unavailable))
        server.resume()
        #expect(await becomes { await client.result("GET", "a") == .success(Data([1])) })
        #expect(await client.result("GET", "a") == .success(Data([1])))
        await server.kill()
        #expect(await client.result("GET", "a") == .failure(.connection))
    }
}

/// Machines with a bucket between them.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(3)), .enabled(if: S3Server.isInstalled, "\(S3Server.absence)"))
struct S3FleetTests {
    private func store(_ client: S3Client) -> RemoteImageStore {
        RemoteImageStore(S3Store(client, patience: 20_000_000_000))
    }

    @Test func `A second machine gets the image that the first has loaded, byte for byte a cache file`() async throws {
        let fleet = try Fleet()
        let server = try await S3Server.shared.value
        let client = try server.client(prefix: "two")
        let (first, second) = (fleet.machine("1", store(client)), fleet.machine("2", store(client)))
        let url = fleet.origin.url("/a.jpg")
        _ = try await first.load(url)
        await first.cache.flush()
        #expect(try await second.load(url).cacheType == .disk)
        #expect(fleet.origin.requestCount() == 1)
        let names = try await store(client).trustedNames()
        let name = S3Store.objectName(names.entry(forKey: url.absoluteString))
        let file = try await client.result("GET", name).get()
        #expect(EntryFile.decode(file, forKey: url.absoluteString)?.data == (try Fleet.image()))
        // Removed on one machine, it is removed from the bucket.
        await awaitCompletion { first.cache.removeImage(forKey: url.absoluteString, from: .all, completion: $0) }
        #expect(await becomes { await client.result("GET", name) == .failure(.refused(.absent)) })
    }

    @Test func `A value that is no entry is a miss, and is replaced`() async throws {
        let fleet = try Fleet()
        let client = try await S3Server.shared.value.client(prefix: "foreign")
        let url = fleet.origin.url("/a.jpg")
        let names = try await store(client).trustedNames()
        let name = S3Store.objectName(names.entry(forKey: url.absoluteString))
        for (number, value) in [Data("foreign".utf8), Data(), Data(repeating: 0, count: 100_000)].enumerated() {
            #expect(await client.result("PUT", name, value) == .success(Data()))
            let machine = fleet.machine("\(number)", store(client))
            _ = try await machine.load(url)
            await machine.cache.flush()
            #expect(fleet.origin.requestCount() == number + 1)
            let file = try await client.result("GET", name).get()
            #expect(EntryFile.decode(file, forKey: url.absoluteString)?.data == (try Fleet.image()))
        }
    }

    @Test func `What a server gives to one user stays on the machine, and policies share nothing`() async throws {
        let fleet = try Fleet(headers: [("Cache-Control", "private")])
        let client = try await S3Server.shared.value.client(prefix: "private")
        for name in ["1", "2"] {
            let machine = fleet.machine(name, store(client))
            _ = try await machine.load(fleet.origin.url("/a.jpg"))
            await machine.cache.flush()
        }
        #expect(fleet.origin.requestCount() == 2)
    }

    @Test func `An original of several MiB is shared, which Redis would not take`() async throws {
        let size = 3 << 20
        let body = [UInt8](try Fleet.image()) + [UInt8](repeating: 0, count: size)
        let fleet = try Fleet { _ in .response(body: body) }
        let client = try await S3Server.shared.value.client(prefix: "large")
        let (first, second) = (fleet.machine("1", store(client)), fleet.machine("2", store(client)))
        _ = try await first.load(fleet.origin.url("/a.jpg"))
        await first.cache.flush()
        _ = try await second.load(fleet.origin.url("/a.jpg"))
        #expect(fleet.origin.requestCount() == 1)
    }

    @Test func `The command shares through a bucket`() async throws {
        let directory = TemporaryDirectory()
        let fleet = try Fleet()
        let port = try await S3Server.shared.value.port
        let store = "s3://fleet/command?endpoint=http://127.0.0.1:\(port)&style=path"
        for name in ["first", "second"] {
            var environment = S3Server.settings
            var arguments = ["get", fleet.origin.url("/a.jpg").absoluteString, "-o", directory.path("\(name).png")]
            arguments += ["--cache-dir", directory.path(name)]
            if name == "first" {
                arguments += ["--remote-cache", store]
            } else {
                environment["WEBIMAGE_REMOTE_CACHE"] = store
            }
            let run = try await ProgramRun.run(ProgramRun.product("webimage"), arguments, environment: environment)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(fleet.origin.requestCount() == 1)
    }
}
