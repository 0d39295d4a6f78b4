import FoundationEssentials
import TestSupport
import Testing

/// `--cache-policy`, and the reports of freshness.
@Suite(.timeLimit(.minutes(2))) struct CachePolicyTests {
    private let harness = CommandLineHarness()

    /// A server with one image and its cache fields; it answers 304 to clients that have the image.
    private func server(_ cacheControl: String) throws -> LoopbackServer {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let fields = [("Content-Type", "image/jpeg"), ("ETag", "\"1\""), ("Cache-Control", cacheControl)]
        return try LoopbackServer { request in
            request.header("If-None-Match") == "\"1\""
                ? .response(304, headers: fields) : .response(headers: fields, body: body)
        }
    }

    private func get(_ server: LoopbackServer, _ words: String...) async throws -> JSONLine {
        let url = server.url("/a.jpg").absoluteString
        let run = try await harness.run(["get", url, "-o", "a.jpg", "--json", "--cache-dir", harness.cache] + words)
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try CommandLineHarness.objects(run).first)
    }

    @Test func `By default the image of a URL never changes`() async throws {
        let server = try server("no-store, no-cache")
        let lines = try await (1...2).asyncMap { _ in try await get(server) }
        #expect(lines.map(\.cacheType) == ["none", "disk"] && server.requestCount() == 1)
        #expect(lines.allSatisfy { $0.stale == false && $0.ageSeconds == nil })
    }

    @Test func `A fresh image is not requested by the next process`() async throws {
        let server = try server("max-age=600")
        let lines = try await (1...2).asyncMap { _ in try await get(server, "--cache-policy", "http") }
        #expect(lines.map(\.cacheType) == ["none", "disk"] && server.requestCount() == 1)
        #expect(lines[1].stale == false)
        let age = try #require(lines[1].ageSeconds)
        #expect(age >= 0 && age < 60)
    }

    @Test func `A no-cache image is revalidated, and not sent again`() async throws {
        let server = try server("no-cache")
        let lines = try await (1...3).asyncMap { _ in try await get(server, "--cache-policy", "http") }
        #expect(lines.map(\.cacheType) == ["none", "disk", "disk"] && server.requestCount() == 3)
        #expect(server.requests.dropFirst().allSatisfy { $0.header("If-None-Match") == "\"1\"" })
    }

    @Test func `A no-store image is not in the cache afterwards`() async throws {
        let server = try server("no-store")
        for _ in 1...2 { #expect(try await get(server, "--cache-policy", "http").cacheType == "none") }
        #expect(try await harness.run("cache", "list", "--cache-dir", harness.cache).lines.isEmpty)
    }

    @Test func `revalidate asks each time, and a time to live after its end`() async throws {
        let server = try server("max-age=600")
        for _ in 1...2 { _ = try await get(server, "--cache-policy", "revalidate") }
        #expect(server.requestCount() == 2)
        _ = try await get(server, "--cache-policy", "ttl=3600")
        #expect(server.requestCount() == 2)
        _ = try await get(server, "--cache-policy", "ttl=0")
        #expect(server.requestCount() == 3)
    }

    @Test func `Without the server the cached image is written, and reported as stale`() async throws {
        let server = try server("max-age=0")
        _ = try await get(server, "--cache-policy", "http")
        server.stop()
        let line = try await get(server, "--cache-policy", "http")
        #expect(line.stale == true && line.cacheType == "disk")
        let url = server.url("/a.jpg").absoluteString
        let words = ["--cache-policy", "revalidate", "--cache-dir", harness.cache]
        let run = try await harness.run(["get", url, "-o", "b.jpg"] + words)
        #expect(run.status == 0 && run.lines.first?.hasSuffix("(disk, stale)") ?? false)
    }

    @Test func `A list is loaded with the policy, too`() async throws {
        let server = try server("max-age=600")
        let words = ["prefetch", server.url("/a.jpg").absoluteString, "--json", "--cache-dir", harness.cache]
        let lines = try await (1...2).asyncMap { _ in
            try #require(
                try CommandLineHarness.objects(try await harness.run(words + ["--cache-policy", "http"])).first
            )
        }
        #expect(lines.map(\.cacheType) == ["none", "disk"] && server.requestCount() == 1)
        #expect(lines[1].stale == false && lines[1].ageSeconds != nil)
    }

    @Test func `--explain names the rule that decided`() async throws {
        let server = try server("max-age=600")
        _ = try await get(server, "--cache-policy", "http")
        let fresh = try await get(server, "--cache-policy", "http", "--explain")
        #expect(fresh.explanation?.contains("is used: max-age says that it is fresh.") ?? false)
        let asked = try await get(server, "--cache-policy", "http", "--explain", "-H", "Cache-Control: no-cache")
        #expect(asked.explanation?.contains("the request requires revalidation.") ?? false)
        #expect(asked.explanation?.contains("There is nothing newer.") ?? false)
    }

    @Test(arguments: [("max-age=600", true, "fresh for 9 min"), ("max-age=0", false, "stale for 0 s")])
    func `The list of the cache shows the freshness of an entry`(_ control: String, isFresh: Bool, words: String)
        async throws
    {
        _ = try await get(try server(control))
        let plain = try await harness.run("cache", "list", "--cache-dir", harness.cache)
        #expect(plain.lines.count == 1)
        #expect(plain.output.contains(words) || plain.output.contains("stale for 1 s"), "\(plain.output)")
        let run = try await harness.run("cache", "list", "--json", "--cache-dir", harness.cache)
        let freshness = try #require(try CommandLineHarness.objects(run).first?.freshness)
        #expect(freshness.fresh == isFresh && freshness.ageSeconds < 60 && freshness.lifetimeSeconds != nil)
        #expect(freshness.reason.isEmpty == false)
    }

    @Test(arguments: ["never", "", "ttl", "ttl=", "ttl=-1", "ttl=nan", "ttl=1e9", "HTTP"])
    func `An invalid policy is a usage error`(_ policy: String) async throws {
        let run = try await harness.run("get", "a.jpg", "--cache-policy", policy)
        #expect(run.status == 64 && run.errors.contains("immutable, http, revalidate or ttl=SECONDS"))
    }

    @Test func `Without a cache a policy is a usage error`() async throws {
        let run = try await harness.run("get", "a.jpg", "--cache-policy", "http", "--no-cache")
        #expect(run.status == 64 && run.errors.contains("--no-cache and --cache-policy cannot be combined"))
    }

    @Test func `An image refreshed after a stale one is cached for the next process`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=0, stale-while-revalidate=600")]
        let newer = body + Data([0])
        let server = try LoopbackServer { request in
            request.header("If-None-Match") == nil
                ? .response(headers: fields + [("ETag", "\"1\"")], body: body)
                : .response(headers: fields + [("ETag", "\"2\"")], body: newer)
        }
        let lines = try await (1...2).asyncMap { _ in try await get(server, "--cache-policy", "http") }
        #expect(lines.map(\.stale) == [false, true] && server.requestCount() == 2)
        let last = try await get(server, "--cache-only")
        #expect(last.cacheType == "disk" && last.bytes == newer.count)
    }
}
