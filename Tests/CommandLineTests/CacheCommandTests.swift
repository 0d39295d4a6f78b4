import FoundationEssentials
import TestSupport
import Testing

@Suite struct CacheCommandTests {
    let harness = CommandLineHarness()
    let server: LoopbackServer

    init() throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        server = try LoopbackServer { _ in .response(body: body) }
    }

    private func fill(_ count: Int) async throws -> [String] {
        let urls = (0..<count).map { server.url("/\($0).jpg").absoluteString }
        _ = try await harness.run(["prefetch"] + urls + ["--cache-dir", harness.cache])
        return urls
    }

    private func cache(_ words: String...) async throws -> ProgramRun {
        try await harness.run(["cache"] + words + ["--cache-dir", harness.cache])
    }

    @Test func `Stats and list describe the cache's contents`() async throws {
        let urls = try await fill(3)
        let stats = try #require(try CommandLineHarness.objects(await cache("stats", "--json")).first)
        let size = try fixtureBytes("JPEG/gray.jpg").count
        #expect(stats.entries == 3 && stats.bytes == 3 * size)
        #expect(try await cache("stats").output.contains("3 entries"))
        let list = try CommandLineHarness.objects(await cache("list", "--json"))
        #expect(Set(list.compactMap(\.key)) == Set(urls))
        for entry in list {
            #expect(entry.bytes == size)
            #expect(FileManager.default.fileExists(atPath: entry.path ?? ""))
            for time in [entry.created, entry.modified, entry.accessed] {
                let date = try Date(time ?? "", strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                #expect(abs(date.timeIntervalSinceNow) < 600)
            }
        }
        #expect(try await cache("list").lines.count == 3)
    }

    @Test func `The path of an entry opens as an image`() async throws {
        let urls = try await fill(1)
        #expect(try await cache("path").output == harness.cache + "/default\n")
        let path = try await cache("path", urls[0]).lines[0]
        let original = try fixtureBytes("JPEG/gray.jpg")
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))).starts(with: original))
        let missing = try await cache("path", "http://host/other.jpg")
        #expect(missing.status == 1 && missing.errors.contains("not in the cache"))
        #expect(try CommandLineHarness.objects(await cache("path", urls[0], "--json")).first?.exists == true)
    }

    @Test func `Remove removes the named entries, and reports missing ones`() async throws {
        let urls = try await fill(2)
        let run = try await cache("remove", urls[0], "http://host/other.jpg")
        #expect(run.status == 1 && run.errors.contains("http://host/other.jpg"))
        #expect(try CommandLineHarness.objects(await cache("list", "--json")).map(\.key) == [urls[1]])
        let json = try await cache("remove", urls[0], urls[1], "--json")
        #expect(json.status == 1 && json.errors.isEmpty)
        #expect(try CommandLineHarness.objects(json).map(\.removed) == [false, true])
    }

    @Test func `Trim obeys age and size, and clear removes everything`() async throws {
        _ = try await fill(6)
        #expect(try CommandLineHarness.objects(await cache("trim", "--json")).first?.expired == 0)
        let trimmed = try #require(
            try CommandLineHarness.objects(await cache("trim", "--max-size", "16Ki", "--json")).first
        )
        #expect((trimmed.trimmed ?? 0) >= 4)
        #expect(
            try CommandLineHarness.objects(await cache("trim", "--max-age", "0", "--json")).first.map {
                ($0.expired ?? 0) > 0
            } == true
        )
        #expect(try CommandLineHarness.objects(await cache("stats", "--json")).first?.entries == 0)
        _ = try await fill(2)
        #expect(try await cache("clear").status == 0)
        #expect(try CommandLineHarness.objects(await cache("stats", "--json")).first?.entries == 0)
    }

    @Test func `Stats and clear include intermediate tiles, but not for a namespace`() async throws {
        _ = try await fill(1)
        for name in ["a.pyramid", "b.pyramid", "part-c"] {
            try Data(repeating: 0, count: 1000).write(to: URL(filePath: "\(harness.cache)/\(name)"))
        }
        let stats = try #require(try CommandLineHarness.objects(await cache("stats", "--json")).first)
        #expect(stats.entries == 1 && stats.pyramids == 3 && stats.pyramidBytes == 3000)
        #expect(try await cache("stats").output.contains("tiles of 3 huge images"))
        let named = try await CommandLineHarness.objects(cache("stats", "--namespace", "default", "--json")).first
        #expect(named?.entries == 1 && named?.pyramids == nil)
        #expect(try await cache("clear", "--namespace", "default").status == 0)
        #expect(FileManager.default.fileExists(atPath: "\(harness.cache)/a.pyramid"))
        #expect(try await cache("clear").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: harness.cache)
        // A file that is being written belongs to its writer.
        #expect(names.filter { $0.hasSuffix(".pyramid") || $0.hasPrefix("part-") } == ["part-c"])
    }

    @Test func `Verify finds a damaged entry and removes it on request`() async throws {
        let urls = try await fill(2)
        let path = try await cache("path", urls[0]).lines[0]
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let found = try await cache("verify", "--json")
        #expect(found.status == 1)
        #expect(try CommandLineHarness.objects(found).map(\.path) == [path])
        #expect(try await cache("verify", "--remove").status == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await cache("verify").output.contains("1 entries checked, 0 damaged"))
    }

    @Test func `Without a directory the cache is where the XDG convention puts it`() async throws {
        let path = try await harness.run("cache", "path", "--namespace", "mine").output
        #expect(path == harness.directory.path("xdg") + "/webimage/mine\n")
    }
}
