import Foundation
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageSupport

@testable import WebImageFleet
@testable import WebImageLoading

/// An origin of images, and machines that load from it and share a store.
final class Fleet: Sendable {
    /// One machine: its own disk, memory, downloader and work graph.
    struct Machine: Sendable {
        let cache: TieredImageCache
        let manager: WebImageManager
        let downloader: WebImageDownloader

        func load(_ url: URL, options: WebImageOptions = [], context: WebImageContext? = nil) async throws
            -> WebImageResult
        {
            try await manager.result(with: url, options: options, context: context)
        }
    }

    let origin: LoopbackServer
    private let directory = TemporaryDirectory()

    init(_ response: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse) throws {
        origin = try LoopbackServer(response)
    }

    /// Serves the same image under each path, with these fields.
    convenience init(headers: [(String, String)] = []) throws {
        let body = [UInt8](try Self.image())
        try self.init { _ in .response(headers: headers, body: body) }
    }

    static func image() throws -> Data { try Fixtures.data("JPEG/baseline-420.jpg") }

    /// Its waits are long, because the machine that runs the tests is busy.
    func machine(_ name: String, _ store: RemoteImageStore) -> Machine {
        let local = ImageCache(namespace: name, directory: directory.path)
        var rules = SingleFlight.Rules()
        (rules.lease, rules.patience) = (20_000_000_000, 60_000_000_000)
        let cache = TieredImageCache(local: local, store: store.store, seal: store.seal, rules: rules)
        let downloader = WebImageDownloader()
        let manager = WebImageManager(cache: cache, loader: downloader, pipeline: Pipeline())
        return Machine(cache: cache, manager: manager, downloader: downloader)
    }

    /// Expects that what one process of the command clears in a store, another does not find.
    func expectRemoval(from store: String, environment: [String: String] = [:]) async throws {
        let url = origin.url("/a.jpg").absoluteString
        for (number, count) in [1, 1, 2].enumerated() {
            if number == 2 {
                let run = try await Self.clear(store, environment: environment)
                #expect(run.status == 0 && run.output.contains("removed"), "\(run.errors)")
            }
            let (file, cache) = (directory.path("\(number).png"), directory.path("\(number)"))
            let words = ["get", url, "-o", file, "--cache-dir", cache, "--remote-cache", store]
            let run = try await ProgramRun.run(ProgramRun.product("webimage"), words, environment: environment)
            #expect(run.status == 0, "\(run.errors)")
            #expect(origin.requestCount() == count)
        }
    }

    /// Runs the command that clears a store.
    static func clear(_ store: String, environment: [String: String] = [:]) async throws -> ProgramRun {
        let words = ["cache", "clear", "--remote", store]
        return try await ProgramRun.run(ProgramRun.product("webimage"), words, environment: environment)
    }
}

extension RemoteImageStore {
    /// The names of trusted managers' entries in the present generation.
    func trustedNames() async throws -> RemoteNames {
        let generation: String? = await awaitCompletion { RemoteGeneration(store, clock: .system).current($0) }
        return RemoteNames(namespace: "trusted", generation: try #require(generation))
    }
}

extension RedisServer {
    /// A store in this server. The timeout is long, because the machine that runs the tests is busy.
    func store(timeout: Double = 5) throws -> RemoteImageStore {
        try RemoteImageStore(redis: "redis://127.0.0.1:\(port)", timeout: timeout)
    }

    /// The number of entries and leases.
    func keyCount() async -> Int64? {
        let client = RedisClient(configuration)
        guard case .success(.number(let count)) = await client.reply("DBSIZE") else { return nil }
        return count
    }

    /// The name of a trusted manager's entry in the present generation.
    func name(of key: String) async throws -> String { try await trustedNames().entry(forKey: key) }

    func trustedNames() async throws -> RemoteNames { try await store().trustedNames() }

    /// The names of entries, without leases.
    func names() async -> [String] {
        let client = RedisClient(configuration)
        guard case .success(let reply) = await client.reply("KEYS", "*") else { return [] }
        return (reply.members ?? []).compactMap(\.text).filter { $0.hasSuffix("}") }
    }
}

/// Asks until it is so, at most 20 seconds.
func waitUntil(_ condition: () async -> Bool) async throws {
    if await !becomes(condition) { Issue.record("it did not become true") }
}
