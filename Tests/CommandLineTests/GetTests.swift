import FoundationEssentials
import TestSupport
import Testing

@Suite struct GetTests {
    let harness = CommandLineHarness()

    private func size(of path: String) async throws -> [Int?] {
        let run = try await harness.run("identify", "--json", path)
        let line = try #require(try CommandLineHarness.objects(run).first)
        return [line.width, line.height]
    }

    @Test func `A JPEG from a server becomes a PNG thumbnail`() async throws {
        let body = try fixtureBytes("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(headers: [("Content-Type", "image/jpeg")], body: body) }
        let url = server.url("/a.jpg").absoluteString
        let run = try await harness.run(
            "get",
            url,
            "--thumbnail",
            "30x30",
            "-o",
            "out.png",
            "--cache-dir",
            harness.cache
        )
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("out.png  30x22 PNG"))
        #expect(run.output.hasSuffix("(network)\n"))
        #expect(run.errors.isEmpty)
        let data = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("out.png")))
        #expect(data.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(try await size(of: "out.png") == [30, 22])
    }

    @Test
    func `An image above the memory budget is scaled down, and an invalid budget is refused`() async throws {
        let harness = CommandLineHarness()
        let image = harness.directory.path("grey.png")
        try Data(PNGBomb.make(width: 1500, height: 1500)).write(to: URL(fileURLWithPath: image))
        let arguments = ["--json", "--format", "png", "--no-cache", image, "-o", harness.directory.path("small.png")]
        let run = try await harness.run(["get", "--memory-budget", "2M"] + arguments)
        #expect(run.status == 0)
        let line = try #require(try CommandLineHarness.objects(run).first)
        #expect((line.width ?? 0) > 100 && (line.width ?? 0) < 900)
        let whole = try await harness.run(["get", "--memory-budget", "64Mi"] + arguments)
        let all = try #require(try CommandLineHarness.objects(whole).first)
        #expect(all.width == 1500)
        for text in ["much", "12", "-1M"] {
            let refused = try await harness.run(
                "get",
                "--memory-budget",
                text,
                image,
                "-o",
                harness.directory.path("x.png")
            )
            #expect(refused.status == 64 && refused.errors.contains("--memory-budget"))
        }
    }

    @Test func `The second run reads the disk and sends no request`() async throws {
        let body = try fixtureBytes("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let words = ["get", server.url("/a.jpg").absoluteString, "--json", "--cache-dir", harness.cache, "-o", "a.jpg"]
        let first = try #require(try CommandLineHarness.objects(try await harness.run(words)).first)
        let second = try #require(try CommandLineHarness.objects(try await harness.run(words)).first)
        #expect(first.cacheType == "none" && second.cacheType == "disk")
        #expect(second.key == server.url("/a.jpg").absoluteString)
        #expect(second.format == "JPEG" && second.width == 61 && second.height == 45 && second.frames == 1)
        #expect(second.bytes == body.count && second.output == "a.jpg")
        #expect((second.elapsedMs ?? -1) >= 0)
        #expect(server.requestCount() == 1)
    }

    @Test func `An image without changes is written byte for byte`() async throws {
        let body = try fixtureBytes("JPEG/baseline-420.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        _ = try await harness.run("get", server.url("/a.jpg").absoluteString, "--no-cache")
        #expect(try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("a.jpg"))) == Data(body))
    }

    @Test func `Images of the same name from several places get different names`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let run = try await harness.run(
            "get",
            server.url("/x/a.jpg").absoluteString,
            server.url("/y/a.jpg").absoluteString,
            "-o",
            "all",
            "--no-cache"
        )
        #expect(run.status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: harness.directory.path("all"))
        #expect(Set(names) == ["a.jpg", "a-2.jpg"])
    }

    @Test func `Of three sources a bad one fails, with name and cause`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { request in
            request.path == "/missing.jpg" ? .response(404, body: Array("no".utf8)) : .response(body: body)
        }
        let urls = ["/a.jpg", "/missing.jpg", "/b.jpg"].map { server.url($0).absoluteString }
        let run = try await harness.run(["get"] + urls + ["--no-cache"])
        #expect(run.status == 1)
        #expect(run.lines.count == 2)
        #expect(run.errors.contains(urls[1]) && run.errors.contains("404"))
        let json = try await harness.run(["get", "--json"] + urls + ["--no-cache"])
        let failed = try CommandLineHarness.objects(json).filter { $0.error != nil }
        #expect(failed.map(\.source) == [urls[1]])
        #expect(failed.first?.error?.code == 2001)
        #expect(json.errors.isEmpty)
    }

    @Test func `An HTML page with an image type is reported as not an image`() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: [("Content-Type", "image/jpeg")], body: Array("<html>sorry</html>".utf8))
        }
        let run = try await harness.run(
            "get",
            server.url("/a.jpg").absoluteString,
            "--json",
            "--cache-dir",
            harness.cache
        )
        #expect(try CommandLineHarness.objects(run).first?.error?.code == 1001)
        #expect(
            try CommandLineHarness.objects(await harness.run("cache", "stats", "--json", "--cache-dir", harness.cache))
                .first?
                .entries == 0
        )
    }

    @Test func `A decompression bomb of 900 million pixels is refused with little memory`() async throws {
        let bomb = PNGBomb.make(width: 30_000, height: 30_000)
        #expect(bomb.count < 1 << 20)
        let server = try LoopbackServer { _ in .response(body: bomb) }
        let words = ["get", server.url("/bomb.png").absoluteString, "--thumbnail", "100x100", "--no-cache"]
        let run = try await harness.run(words, measuresMemory: true)
        #expect(run.status == 1)
        #expect(run.errors.contains("maximumPixelCount"))
        #expect(run.peakMemory < 100 << 20)
    }

    @Test func `Standard output gets only the image`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let run = try await harness.run(
            "get",
            server.url("/a.jpg").absoluteString,
            "-o",
            "-",
            "--no-cache",
            "-f",
            "png"
        )
        #expect(run.status == 0)
        #expect(run.output.dropFirst().hasPrefix("PNG"))
    }

    @Test func `The cache modes work`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let url = server.url("/a.jpg").absoluteString
        let miss = try await harness.run("get", url, "--cache-only", "--cache-dir", harness.cache)
        #expect(miss.status == 1 && miss.errors.contains("not in the cache"))
        #expect(server.requestCount() == 0)
        _ = try await harness.run("get", url, "--no-cache", "--cache-dir", harness.directory.path("none"))
        #expect(!FileManager.default.fileExists(atPath: harness.directory.path("none")))
        for _ in 0..<2 { _ = try await harness.run("get", url, "--refresh", "--cache-dir", harness.cache) }
        #expect(server.requestCount() == 3)
        #expect(try await harness.run("get", url, "--cache-only", "--cache-dir", harness.cache).status == 0)
        #expect(server.requestCount() == 3)
    }

    @Test func `Files and data URLs are sources, and are not cached`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let path = Fixtures.path("JPEG/gray.jpg")
        let data = "data:image/jpeg;base64," + Data(body).base64EncodedString()
        let run = try await harness.run(
            "get",
            path,
            data,
            "-o",
            "all",
            "--thumbnail",
            "20",
            "--cache-dir",
            harness.cache
        )
        #expect(run.status == 0)
        #expect(run.lines.count == 2 && run.lines.allSatisfy { $0.contains("20x") && $0.hasSuffix("(file)") })
        let stats = try CommandLineHarness.objects(
            await harness.run("cache", "stats", "--json", "--cache-dir", harness.cache)
        )
        #expect(stats.first?.entries == 0)
    }

    @Test func `Header fields are sent, and a time limit holds`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { request in
            request.path == "/slow"
                ? .silence : request.header("X-Key") == "open" ? .response(body: body) : .response(403)
        }
        let url = server.url("/a.jpg").absoluteString
        #expect(try await harness.run("get", url, "--no-cache", "-H", "X-Key: open").status == 0)
        #expect(try await harness.run("get", url, "--no-cache").status == 1)
        let slow = try await harness.run(
            "get",
            server.url("/slow").absoluteString,
            "--no-cache",
            "--timeout",
            "0.2",
            "--json"
        )
        #expect(try CommandLineHarness.objects(slow).first?.error?.code == 2100)
    }

    @Test func `Resizing makes exactly the size, in the given mode`() async throws {
        let source = Fixtures.path("JPEG/baseline-420.jpg")
        for (mode, name) in [("", "a"), (":fill", "b"), (":cover", "c"), (":fit", "d")] {
            let run = try await harness.run("get", source, "--resize", "90x20\(mode)", "-o", "\(name).png")
            #expect(run.status == 0)
            #expect(try await size(of: "\(name).png") == [90, 20])
        }
        #expect(try await harness.run("get", source, "--thumbnail", "500", "-o", "big.png").status == 0)
        #expect(try await size(of: "big.png") == [61, 45], "a thumbnail is never bigger")
    }

    @Test func `An unwritable directory is an error that names the file`() async throws {
        let run = try await harness.run("get", Fixtures.path("JPEG/gray.jpg"), "-o", "/proc/nothing/a.jpg")
        #expect(run.status == 1)
        #expect(run.errors.contains("/proc/nothing/a.jpg"))
    }

    @Test func `An unwritable cache does not prevent a load`() async throws {
        let body = try fixtureBytes("JPEG/gray.jpg")
        let server = try LoopbackServer { _ in .response(body: body) }
        let run = try await harness.run("get", server.url("/a.jpg").absoluteString, "--cache-dir", "/proc/nothing")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("a.jpg"))
    }
}
