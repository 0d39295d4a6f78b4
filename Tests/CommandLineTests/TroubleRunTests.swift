import FoundationEssentials
import TestSupport
import Testing

/// One run of the program with every kind of failure, with good images between them.
@Suite struct TroubleRunTests {
    let harness = CommandLineHarness()

    private struct Trouble {
        var path: String
        /// The number of the error, as the library documents it.
        var code: Int
        /// The expected text of the message.
        var cause: String
    }

    private static let troubles = [
        Trouble(path: "/truncated.jpg", code: 2103, cause: "ended before its announced length"),
        Trouble(path: "/short.jpg", code: 1001, cause: "premature end"),
        Trouble(path: "/missing.jpg", code: 2001, cause: "404"),
        Trouble(path: "/page.jpg", code: 1001, cause: "not an image"),
        Trouble(path: "/empty.jpg", code: 1001, cause: "no body"),
        Trouble(path: "/bomb.png", code: 1100, cause: "maximumPixelCount"),
        Trouble(path: "/loop.jpg", code: 2105, cause: "redirect"),
        Trouble(path: "/slow.jpg", code: 2100, cause: "took longer than \(timeout)"),
        Trouble(path: "/silent.jpg", code: 2100, cause: "took longer than \(timeout)"),
        Trouble(path: "/endless.jpg", code: 1100, cause: "maximumResponseByteCount"),
    ]
    private static let deadPortCode = 2102
    private static let goodCount = 30
    /// Seconds that a download may take: the slow server and the silent one take that, and everything else far less.
    private static let timeout = 4

    private static func server() throws -> LoopbackServer {
        let good = try fixtureBytes("JPEG/baseline-420.jpg")
        let bomb = PNGBomb.make(width: 30_000, height: 30_000)
        return try LoopbackServer { request in
            switch request.path {
            case "/truncated.jpg": .truncated(Array(good.prefix(good.count / 2)), declared: good.count)
            case "/short.jpg": .response(body: Array(good.prefix(good.count / 2)))
            case "/missing.jpg": .response(404, body: Array("not here".utf8))
            case "/page.jpg": .response(headers: [("Content-Type", "image/jpeg")], body: Array("<html>no</html>".utf8))
            case "/empty.jpg": .response()
            case "/bomb.png": .response(body: bomb)
            case "/loop.jpg": .redirect(to: "/loop.jpg")
            case "/slow.jpg": .slow(interval: 1, declared: 100_000)
            case "/silent.jpg": .silence
            case "/endless.jpg": .endless
            default: .response(body: good)
            }
        }
    }

    /// Good images and bad ones, mixed.
    private static func list(_ server: LoopbackServer, _ dead: ReservedPort) -> [String] {
        var sources = (0..<goodCount).map { server.url("/good-\($0).jpg").absoluteString }
        let bad = troubles.map { server.url($0.path).absoluteString } + ["http://127.0.0.1:\(dead.port)/dead.jpg"]
        for (index, source) in bad.enumerated() { sources.insert(source, at: 3 * index) }
        return sources
    }

    /// The maximum memory of a run: a body may have 64 MiB before it is refused, half of it exists twice while its
    /// buffer grows, and the program takes some itself.
    private func expectModest(_ run: ProgramRun, since start: ContinuousClock.Instant) {
        let seconds = ContinuousClock.now - start
        #expect(run.peakMemory < 160 << 20, "\(run.peakMemory >> 20) MiB")
        #expect(seconds < .seconds(3 * Self.timeout + 15), "\(seconds)")
    }

    @Test func `A list of every failure costs little memory and time, and the good images in it arrive`() async throws {
        let (server, dead) = (try Self.server(), try ReservedPort())
        // The costly ones are repeated, one after the other: leftovers of one would show at the next.
        let costly = (0..<3).flatMap { ["/endless.jpg?\($0)", "/bomb.png?\($0)"] }.map { server.url($0).absoluteString }
        let list = Self.list(server, dead) + costly
        let start = ContinuousClock.now
        let words = [
            "prefetch", "-", "-j", "1", "--json", "--timeout", "\(Self.timeout)", "--cache-dir", harness.cache,
        ]
        let run = try await harness.run(words, input: list.joined(separator: "\n"), measuresMemory: true)
        expectModest(run, since: start)
        #expect(run.status == 1)
        #expect(run.errors.isEmpty)
        let lines = try CommandLineHarness.objects(run)
        #expect(lines.compactMap(\.source) == list, "each is reported once")
        #expect(lines.suffix(costly.count).allSatisfy { $0.error?.code == 1100 })
        let good = lines.filter { $0.error == nil }
        #expect(good.count == Self.goodCount && good.allSatisfy { $0.cacheType == "none" && $0.width == 61 })
        for trouble in Self.troubles {
            let line = lines.first { $0.source == server.url(trouble.path).absoluteString }
            #expect(line?.error?.code == trouble.code, "\(trouble.path): \(line?.error?.message ?? "no error")")
            #expect(line?.error?.message.contains(trouble.cause) == true, "\(line?.error?.message ?? "no error")")
        }
        #expect(lines.first { $0.source?.hasSuffix("/dead.jpg") == true }?.error?.code == Self.deadPortCode)
        let stats = try CommandLineHarness.objects(
            await harness.run("cache", "stats", "--json", "--cache-dir", harness.cache)
        )
        #expect(stats.first?.entries == Self.goodCount, "nothing bad is kept")
    }

    @Test func `Files of the good images are written between all the bad ones, which are named with their cause`()
        async throws
    {
        let (server, dead) = (try Self.server(), try ReservedPort())
        let list = Self.list(server, dead)
        let start = ContinuousClock.now
        let run = try await harness.run(
            ["get"] + list + ["-o", "all", "--no-cache", "--thumbnail", "30x30", "--timeout", "\(Self.timeout)"],
            measuresMemory: true
        )
        expectModest(run, since: start)
        #expect(run.status == 1)
        #expect(run.lines.count == Self.goodCount)
        let names = try FileManager.default.contentsOfDirectory(atPath: harness.directory.path("all"))
        #expect(Set(names) == Set((0..<Self.goodCount).map { "good-\($0).jpg" }), "and no part of a file is left")
        let errors = run.errors.split(separator: "\n").map(String.init)
        #expect(errors.count == Self.troubles.count + 1)
        for trouble in Self.troubles {
            let line = errors.first { $0.hasPrefix("webimage: \(server.url(trouble.path).absoluteString): ") }
            #expect(line?.contains(trouble.cause) == true, "\(line ?? trouble.path)")
        }
        #expect(errors.contains { $0.hasPrefix("webimage: http://127.0.0.1:\(dead.port)/dead.jpg: ") })
    }
}
