import FoundationEssentials
import TestSupport
import Testing

@Suite struct AnimationOutputTests {
    let harness = CommandLineHarness()

    private func facts(_ path: String) async throws -> JSONLine {
        try #require(try CommandLineHarness.objects(try await harness.run("identify", "--json", path)).first)
    }

    @Test(arguments: ["png", "webp", "gif"])
    func `An animation stays one in a format that supports it`(ending: String) async throws {
        let source = Fixtures.path("WebP/animated-gif2webp.webp")
        let run = try await harness.run("get", source, "-o", "out.\(ending)", "--json", "-q", "100")
        #expect(run.status == 0)
        #expect(try CommandLineHarness.objects(run).first?.frames == 4)
        let line = try await facts("out.\(ending)")
        #expect(line.frames == 4 && line.loopCount == 3 && line.durations == [0.1, 0.1, 0.02, 0.5])
    }

    @Test func `The format may be named, and APNG is a PNG file`() async throws {
        let run = try await harness.run("get", Fixtures.path("GIF/animated.gif"), "-f", "apng", "-o", "out/")
        #expect(run.status == 0 && run.output.hasPrefix("out/animated.png"))
        #expect(try await facts("out/animated.png").frames == 4)
    }

    @Test func `A thumbnail of an animation is animated`() async throws {
        let run = try await harness.run("get", Fixtures.path("GIF/animated.gif"), "-t", "20", "-o", "small.gif")
        #expect(run.status == 0)
        let line = try await facts("small.gif")
        #expect(line.width == 20 && line.height == 15 && line.frames == 4 && line.loopCount == 2)
    }

    @Test func `Only the first frame is written on request, or another loop count`() async throws {
        let source = Fixtures.path("GIF/animated.gif")
        #expect(try await harness.run("get", source, "--first-frame", "-o", "still.gif").status == 0)
        #expect(try await facts("still.gif").frames == 1)
        #expect(try await harness.run("get", source, "--loops", "0", "-o", "ever.gif").status == 0)
        #expect(try await facts("ever.gif").loopCount == 0)
        #expect(try await harness.run("get", source, "-o", "still.jpg").status == 0)
        #expect(try await facts("still.jpg").frames == 1)
        #expect(try await harness.run("get", source, "-o", "same.gif").status == 0)
        #expect(
            try fixtureBytes("GIF/animated.gif")
                == [UInt8](Data(contentsOf: URL(fileURLWithPath: harness.directory.path("same.gif"))))
        )
    }

    @Test func `An animation with too many frames gives its first frame to a still format`() async throws {
        let data = try fixtureBytes("GIF/animated.gif")
        let structure = try #require(data.firstRange(of: [0x2C, 0, 0, 0, 0, 40, 0, 30, 0])).lowerBound
        // The blocks of the first frame, ten thousand times more.
        let end = try #require(
            data[structure...].indices.dropFirst().first { data[$0] == 0x21 && data[$0 + 1] == 0xF9 }
        )
        let frame = data[structure..<end]
        var many = Array(data[..<structure])
        for _ in 0...10_000 { many += frame }
        try Data(many + [0x3B]).write(to: URL(fileURLWithPath: harness.directory.path("many.gif")))
        let refused = try await harness.run("get", "many.gif", "-t", "20", "-o", "moving.webp")
        #expect(refused.status == 1 && refused.errors.contains("maximumFrameCount"))
        for words in [["-o", "one.jpg"], ["--first-frame", "-o", "one.gif"], ["--first-frame", "-o", "one.webp"]] {
            let run = try await harness.run(["get", "many.gif", "-t", "20"] + words)
            #expect(run.status == 0, "\(run.errors)")
            let line = try await facts(words.last ?? "")
            #expect(line.width == 20 && line.height == 15 && line.frames == 1)
        }
    }

    @Test func `A file size limit holds, or the source is reported`() async throws {
        let source = Fixtures.path("PNG/photo-rgb.png")
        for (limit, bytes) in [("2000", 2000), ("2K", 2048), ("0.003M", 3145)] {
            let run = try await harness.run("get", source, "-o", "out.jpg", "--max-file-size", limit, "--json")
            let written = try #require(try CommandLineHarness.objects(run).first?.bytes)
            #expect(written <= bytes && written > bytes / 2)
        }
        let run = try await harness.run("get", source, "-o", "none.jpg", "--max-file-size", "100")
        #expect(run.status == 1 && run.errors.contains("maxFileSize = 100") && run.errors.contains("photo-rgb.png"))
        let small = try await harness.run("get", source, "-o", "same.png", "--max-file-size", "1M")
        #expect(small.status == 0)
        #expect(
            try fixtureBytes("PNG/photo-rgb.png")
                == [UInt8](Data(contentsOf: URL(fileURLWithPath: harness.directory.path("same.png"))))
        )
    }

    @Test func `Converting all frames has a time limit, and an error says so`() async throws {
        let source = Fixtures.path("GIF/animated.gif")
        let run = try await harness.run(
            "get",
            source,
            "-o",
            "out.webp",
            "--convert-timeout",
            "0.000001",
            "--json",
            "--no-cache"
        )
        let failure = try #require(try CommandLineHarness.objects(run).first?.error)
        #expect(run.status == 1 && failure.code == 1108 && failure.message.contains("not converted within"))
        #expect(!FileManager.default.fileExists(atPath: harness.directory.path("out.webp")))
        for seconds in ["0", "120"] {
            let run = try await harness.run("get", source, "-o", "out\(seconds).webp", "--convert-timeout", seconds)
            #expect(run.status == 0, "\(run.errors)")
        }
        let help = try await harness.run("get", "--help")
        #expect(help.output.contains("--convert-timeout") && help.output.contains("120 by default"))
    }
}
