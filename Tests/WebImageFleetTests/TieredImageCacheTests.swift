import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageFleet
@testable import WebImageLoading

/// Machines of one process with a real Redis between them.
@Suite(
    .tags(.threadSanitizer),
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct TieredImageCacheTests {
    @Test func `A second machine gets the image that the first has loaded, and keeps it`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let (first, second) = (fleet.machine("1", try server.store()), fleet.machine("2", try server.store()))
        let url = fleet.origin.url("/a.jpg")
        let image = try await first.load(url).image
        await first.cache.flush()
        let other = try await second.load(url)
        #expect(fleet.origin.requestCount() == 1)
        #expect(other.cacheType == .disk)
        #expect(other.image.pixelWidth == image.pixelWidth && other.image.pixelHeight == image.pixelHeight)
        await second.cache.flush()
        #expect(second.cache.local.diskEntry(forKey: url.absoluteString)?.data == (try Fleet.image()))
        // Without the store, from its own disk.
        await server.kill()
        second.cache.local.memoryCache.removeAll()
        _ = try await second.load(url)
        #expect(fleet.origin.requestCount() == 1)
    }

    @Test func `Results are shared, too`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let (first, second) = (fleet.machine("1", try server.store()), fleet.machine("2", try server.store()))
        var context = WebImageContext()
        context.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        _ = try await first.load(fleet.origin.url("/a.jpg"), context: context)
        await first.cache.flush()
        #expect(await server.names().count == 2)
        _ = try await second.load(fleet.origin.url("/a.jpg"), context: context)
        await second.cache.flush()
        #expect(fleet.origin.requestCount() == 1)
        #expect(
            second.cache.local.diskEntry(forKey: fleet.origin.url("/a.jpg").absoluteString) == nil,
            "it needs no original"
        )
    }

    @Test(arguments: [
        [("Cache-Control", "private")], [("Cache-Control", "no-store")],
        [("Cache-Control", "max-age=60, private=\"x\"")],
        [("Set-Cookie", "a=b")], [("Vary", "*")], [("Vary", "Accept, Cookie")], [("Vary", "Authorization")],
        [("Vary", "X-Api-Key")],
    ])
    func `What a server gives to one user stays on the machine`(headers: [(String, String)]) async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet(headers: headers))
        let (first, second) = (fleet.machine("1", try server.store()), fleet.machine("2", try server.store()))
        for machine in [first, second] {
            _ = try await machine.load(fleet.origin.url("/a.jpg"))
            await machine.cache.flush()
        }
        #expect(fleet.origin.requestCount() == 2)
        #expect(await server.names().isEmpty)
    }

    @Test func `What is requested with credentials, cookies or hooks stays on the machine`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let store = try server.store()
        let url = fleet.origin.url("/a.jpg")
        var contexts: [WebImageContext] = []
        for name in ["Authorization", "Cookie", "X-Api-Key"] {
            var context = WebImageContext()
            context.additionalHeaders = [name: "secret"]
            contexts.append(context)
        }
        var context = WebImageContext()
        context.downloadDecryptor = DownloadDecryptor { data, _ in data }
        contexts.append(context)
        context = WebImageContext()
        context.downloadRequestModifier = DownloadRequestModifier { request in
            var request = request
            request.headers.add(name: "Authorization", value: "secret")
            return request
        }
        contexts.append(context)
        for (number, context) in contexts.enumerated() {
            let machine = fleet.machine("c\(number)", store)
            _ = try await machine.load(url, context: context)
            await machine.cache.flush()
        }
        let cookies = fleet.machine("cookies", store)
        _ = try await cookies.load(url, options: .handleCookies)
        await cookies.cache.flush()
        let login = fleet.machine("login", store)
        login.downloader.setValue("secret", forHTTPHeaderField: "Authorization")
        _ = try await login.load(url)
        await login.cache.flush()
        let hook = fleet.machine("hook", store)
        hook.downloader.decryptor = DownloadDecryptor { data, _ in data }
        _ = try await hook.load(url)
        await hook.cache.flush()
        #expect(await server.names().isEmpty)
        #expect(fleet.origin.requestCount() == contexts.count + 3)
    }

    @Test func `Managers with other policies share nothing`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let store = try server.store()
        let machine = fleet.machine("1", store)
        _ = try await machine.load(fleet.origin.url("/a.jpg"))
        await machine.cache.flush()
        var policy = SourcePolicy.untrusted
        policy.isolatedFormats = []
        policy.allowed = [SourceRule("127.0.0.1:\(fleet.origin.port)")].compactMap { $0 }
        for rule in [nil, SourceRule("other.example")] {
            policy.allowed += [rule].compactMap { $0 }
            let cache = fleet.machine("u\(policy.allowed.count)", store).cache
            var config = WebImageDownloaderConfig()
            config.sourcePolicy = policy
            let downloader = WebImageDownloader(config: config)
            let manager = WebImageManager(policy: policy, cache: cache, downloader: downloader, pipeline: Pipeline())
            _ = try await manager.result(with: fleet.origin.url("/a.jpg"))
            await cache.flush()
        }
        #expect(fleet.origin.requestCount() == 3)
        #expect(await server.names().count == 3)
    }

    @Test func `Of many loads on four machines, one asks the server`() async throws {
        let body = [UInt8](try Fleet.image())
        let gate = Gate()
        let fleet = try Fleet { _ in .delayed(gate, then: .response(body: body)) }
        let server = try await RedisServer()
        let machines = try (0..<4).map { fleet.machine("\($0)", try server.store()) }
        let url = fleet.origin.url("/a.jpg")
        async let opening: Void = {
            _ = await fleet.origin.wait { requests, _ in requests > 0 }
            gate.open()
        }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<256 { group.addTask { _ = try await machines[number % 4].load(url) } }
            try await group.waitForAll()
        }
        await opening
        #expect(fleet.origin.requestCount() == 1)
    }

    @Test func `A machine that fails to load lets the others go on`() async throws {
        let body = [UInt8](try Fleet.image())
        let fleet = try Fleet { request in request.header("X-First") == nil ? .response(body: body) : .response(404) }
        let server = try await RedisServer()
        let machines = try (0..<2).map { fleet.machine("\($0)", try server.store()) }
        let url = fleet.origin.url("/a.jpg")
        machines[0].downloader.setValue("1", forHTTPHeaderField: "X-First")
        await #expect(throws: WebImageError.self) { try await machines[0].load(url) }
        // The lease was released, not left to end.
        _ = try await machines[1].load(url)
        #expect(fleet.origin.requestCount() == 2)
    }

    @Test func `A value that is no entry is a miss, and is replaced`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let url = fleet.origin.url("/a.jpg")
        let client = RedisClient(server.configuration)
        let name = try await server.name(of: url.absoluteString)
        for (number, value) in [Data("foreign".utf8), Data(), Data(repeating: 0, count: 100_000)].enumerated() {
            _ = await client.reply(RedisCommand("SET", name).with(value))
            let machine = fleet.machine("\(number)", try server.store())
            _ = try await machine.load(url)
            await machine.cache.flush()
            #expect(fleet.origin.requestCount() == number + 1)
            let stored = try #require(try await client.reply("GET", name).get().data)
            #expect(EntryFile.decode(stored, forKey: url.absoluteString)?.data == (try Fleet.image()))
        }
    }

    @Test func `Entries end with their freshness`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet(headers: [("Cache-Control", "max-age=1000")]))
        let machine = fleet.machine("1", try server.store())
        machine.manager.cachePolicy = .http
        _ = try await machine.load(fleet.origin.url("/a.jpg"))
        await machine.cache.flush()
        let name = try #require(await server.names().first)
        guard case .success(.number(let seconds)) = await RedisClient(server.configuration).reply("TTL", name) else {
            Issue.record("there is no entry")
            return
        }
        #expect((850...1100).contains(seconds))
        let other = fleet.machine("2", try server.store())
        other.manager.cachePolicy = .http
        _ = try await other.load(fleet.origin.url("/a.jpg"))
        #expect(fleet.origin.requestCount() == 1)
    }

    @Test func `A removed entry is removed from the store`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let machine = fleet.machine("1", try server.store())
        let url = fleet.origin.url("/a.jpg")
        _ = try await machine.load(url)
        await machine.cache.flush()
        #expect(await server.names().count == 1)
        await awaitCompletion { machine.cache.removeImage(forKey: url.absoluteString, from: .all, completion: $0) }
        // Commands of one client take effect in their order.
        _ = try await machine.load(fleet.origin.url("/b.jpg"))
        await machine.cache.flush()
        let name = try await server.name(of: fleet.origin.url("/b.jpg").absoluteString)
        #expect(await server.names() == [name])
    }

    @Test func `Loads do not fail without a server, nor with one that stands still or dies`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let nobody = try ReservedPort()
        let store = try RemoteImageStore(redis: "redis://127.0.0.1:\(nobody.port)")
        let alone = fleet.machine("alone", store)
        for number in 0..<20 { _ = try await alone.load(fleet.origin.url("/\(number)")) }
        let machine = fleet.machine("1", try server.store(timeout: 0.02))
        _ = try await machine.load(fleet.origin.url("/a"))
        server.pause()
        for number in 0..<50 { _ = try await machine.load(fleet.origin.url("/p\(number)")) }
        server.resume()
        await server.kill()
        for number in 0..<50 { _ = try await machine.load(fleet.origin.url("/k\(number)")) }
        #expect(fleet.origin.requestCount() == 121)
    }

    @Test func `A full server or a replica is no error`() async throws {
        let full = try await RedisServer("--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
        let fleet = try Fleet()
        let client = RedisClient(full.configuration)
        for number in 0..<40 { _ = await client.reply("SET", "k\(number)", String(repeating: "x", count: 100_000)) }
        let machine = fleet.machine("1", try full.store())
        for number in 0..<10 { _ = try await machine.load(fleet.origin.url("/\(number)")) }
        await machine.cache.flush()
        let replica = try await RedisServer("--replicaof", "127.0.0.1", String(full.port))
        let other = fleet.machine("2", try replica.store())
        for number in 0..<10 { _ = try await other.load(fleet.origin.url("/\(number)")) }
        await other.cache.flush()
        #expect(fleet.origin.requestCount() == 20)
    }
}

/// The command, as separate processes.
@Suite(.timeLimit(.minutes(2)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct FleetCommandTests {
    private let directory = TemporaryDirectory()

    private func get(_ url: URL, _ store: String, cache: String, viaEnvironment: Bool = false) async throws
        -> ProgramRun
    {
        var arguments = [
            "get", url.absoluteString, "-o", directory.path("\(cache).png"), "--cache-dir", directory.path(cache),
        ]
        if !viaEnvironment { arguments += ["--remote-cache", store] }
        return try await ProgramRun.run(
            ProgramRun.product("webimage"),
            arguments,
            environment: viaEnvironment ? ["WEBIMAGE_REMOTE_CACHE": store] : [:]
        )
    }

    @Test func `Two processes share what one has loaded`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let store = "redis://127.0.0.1:\(server.port)"
        for (name, viaEnvironment) in [("first", false), ("second", true)] {
            let run = try await get(fleet.origin.url("/a.jpg"), store, cache: name, viaEnvironment: viaEnvironment)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(fleet.origin.requestCount() == 1)
        #expect(
            FileManager.default.contentsEqual(
                atPath: directory.path("first.png"),
                andPath: directory.path("second.png")
            )
        )
    }

    @Test func `Four processes that want one image ask its server once`() async throws {
        let body = [UInt8](try Fleet.image())
        let gate = Gate()
        let fleet = try Fleet { _ in .delayed(gate, then: .response(body: body)) }
        let server = try await RedisServer()
        async let opening: Void = {
            _ = await fleet.origin.wait { requests, _ in requests > 0 }
            gate.open()
        }()
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await get(fleet.origin.url("/a.jpg"), "redis://127.0.0.1:\(server.port)", cache: "\(number)")
                        .status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await opening
        #expect(statuses == [0, 0, 0, 0])
        #expect(fleet.origin.requestCount() == 1)
    }

    @Test func `Of 256 requests of one result in four processes, one fetches and one decodes`() async throws {
        let body = [UInt8](try Fleet.image())
        let gate = Gate()
        let fleet = try Fleet { _ in .delayed(gate, then: .response(body: body)) }
        let server = try await RedisServer()
        let url = fleet.origin.url("/a.jpg").absoluteString
        async let opening: Void = {
            _ = await fleet.origin.wait { requests, _ in requests > 0 }
            gate.open()
        }()
        let outputs = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let arguments = [
                        "get", "-o", directory.path("out\(number)/"), "--cache-dir", directory.path("r\(number)"),
                        "--remote-cache", "redis://127.0.0.1:\(server.port)", "--grayscale", "--explain", "-j", "64",
                    ]
                    let sources = [String](repeating: url, count: 64)
                    let run = try await ProgramRun.run(ProgramRun.product("webimage"), arguments + sources)
                    #expect(run.status == 0, "\(run.errors)")
                    return run.output
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await opening
        #expect(fleet.origin.requestCount() == 1)
        // Only a process that decodes the original transforms it.
        #expect(outputs.filter { $0.contains("Transformed by") }.count == 1)
        #expect(outputs.filter { $0.contains("on disk") && $0.contains("Decoded to 61×45") }.count == 4)
    }

    @Test func `Without a server the command works, and a wrong address is an error of usage`() async throws {
        let fleet = try Fleet()
        let nobody = try ReservedPort()
        let url = fleet.origin.url("/a.jpg")
        #expect(try await get(url, "redis://127.0.0.1:\(nobody.port)", cache: "none").status == 0)
        let run = try await get(url, "redis://u:secret@127.0.0.1/x", cache: "wrong")
        #expect(run.status == 64)
        #expect(run.errors.contains("is not the number of a database") && !run.errors.contains("secret"))
    }
}
