import FoundationEssentials
import TestSupport
import Testing

@Suite struct PrefetchTests {
    let harness = CommandLineHarness()

    @Test func `A list is loaded over the network once, then from memory, then from disk`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let urls = (0..<20).map { server.url("/\($0).jpg").absoluteString }
        let list = "# pictures\n\n" + urls.joined(separator: "\n  ") + "\n"
        let words = ["prefetch", "-", "--thumbnail", "20x20", "-j", "4", "--json", "--cache-dir", harness.cache]
        let cold = try CommandLineHarness.objects(await harness.run(words + ["--repeat", "2"], input: list))
        #expect(cold.filter { $0.pass == 1 }.map(\.cacheType) == Array(repeating: "none", count: 20))
        #expect(cold.filter { $0.pass == 2 }.map(\.cacheType) == Array(repeating: "memory", count: 20))
        let warm = try CommandLineHarness.objects(await harness.run(words, input: list))
        #expect(warm.map(\.cacheType) == Array(repeating: "disk", count: 20))
        #expect(Set(warm.compactMap(\.source)) == Set(urls))
        #expect(warm.allSatisfy { $0.width == 20 })
        #expect(server.requestCount() == 20)
    }

    @Test func `A list contains files and URLs, and failures are counted`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { request in request.path == "/bad" ? .response(500) : .response(body: body) }
        let list = harness.directory.path("list.txt")
        try Data("\(server.url("/a.jpg"))\r\n\(server.url("/bad"))".utf8).write(to: URL(fileURLWithPath: list))
        let run = try await harness.run(
            "prefetch",
            "list.txt",
            server.url("/b.jpg").absoluteString,
            "--cache-dir",
            harness.cache
        )
        #expect(run.status == 1)
        #expect(run.output.contains("2 images in"))
        #expect(run.output.contains("2 loaded") && run.output.contains("1 failed"))
        #expect(run.errors.contains(server.url("/bad").absoluteString))
    }

    @Test func `An empty list is not an error`() async throws {
        let run = try await harness.run("prefetch", "--cache-dir", harness.cache, input: "# nothing\n")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("0 images"))
    }

    @Test func `Progress bars are drawn and removed only on a terminal`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let urls = (0..<3).map { server.url("/\($0).jpg").absoluteString }
        let words = ["prefetch"] + urls + ["--cache-dir", harness.cache]
        let terminal = try await harness.run(words, environment: ["TERM": "xterm", "NO_COLOR": ""], terminal: true)
        #expect(terminal.errors.contains("3 of 3"))
        #expect(terminal.errors.contains("\u{1B}[36m"))
        #expect(terminal.errors.hasSuffix("\u{1B}[J"), "the bars are gone at the end")
        let plain = try await harness.run(words, environment: ["TERM": "xterm", "NO_COLOR": "1"], terminal: true)
        #expect(plain.errors.contains("3 of 3") && !plain.errors.contains("\u{1B}[36m"))
        #expect(try await harness.run(words, environment: ["TERM": "dumb"], terminal: true).errors.isEmpty)
        #expect(
            try await harness.run(words + ["--quiet"], environment: ["TERM": "xterm"], terminal: true).errors.isEmpty
        )
        #expect(try await harness.run(words).errors.isEmpty)
    }
}
