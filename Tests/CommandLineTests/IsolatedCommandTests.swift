import FoundationEssentials
import TestSupport
import Testing

/// `--isolated`: the program decodes in separate processes of its own file.
@Suite struct IsolatedCommandTests {
    private let harness = CommandLineHarness()
    private let images = [
        "JPEG/orientation-6.jpg", "GIF/animated.gif", "SVG/entities.svg", "AVIF/420.avif", "TIFF/photo-lzw.tiff",
    ]

    @Test func `All properties are shown as without it`() async throws {
        let words = ["identify", "--json"] + images.map(Fixtures.path)
        let (plain, isolated) = (try await harness.run(words), try await harness.run(words + ["--isolated"]))
        #expect(plain.status == 0 && isolated.status == 0 && isolated.errors.isEmpty)
        #expect(plain.lines.count == images.count && plain.lines.sorted() == isolated.lines.sorted())
    }

    @Test func `Images are written as without it`() async throws {
        for image in images {
            let words = ["get", "--no-cache", "-t", "50x50", "-f", "png", Fixtures.path(image)]
            let plain = try await harness.run(words + ["-o", "plain.png"])
            let isolated = try await harness.run(words + ["--isolated", "-o", "isolated.png"])
            #expect(plain.status == 0 && isolated.status == 0, "\(isolated.errors)")
            let (left, right) = (harness.directory.path("plain.png"), harness.directory.path("isolated.png"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: left)) == Data(contentsOf: URL(fileURLWithPath: right)))
        }
    }

    @Test func `show prints the same as without it`() async throws {
        let words = ["show", "--symbols", "--size", "20x10", "--first-frame", Fixtures.path("PNG/photo-rgba.png")]
        let (plain, isolated) = (try await harness.run(words), try await harness.run(words + ["--isolated"]))
        #expect(plain.status == 0 && isolated.status == 0 && !plain.output.isEmpty && plain.output == isolated.output)
    }

    @Test func `A broken worker is an error that says so`() async throws {
        let words = ["identify", "--isolated", "--json", Fixtures.path("PNG/photo-rgba.png")]
        let run = try await harness.run(words, environment: ["WEBIMAGE_DECODER": "/bin/true"])
        #expect(run.status == 1)
        let failure = try #require(try CommandLineHarness.objects(run).first?.error)
        #expect(failure.code == 1109 && failure.message.contains("/bin/true"))
    }

    @Test func `SVG is drawn in a worker without the option, too, and is an error without workers`() async throws {
        let words = ["identify", "--json", Fixtures.path("SVG/shapes.svg"), Fixtures.path("PNG/photo-rgba.png")]
        let run = try await harness.run(words, environment: ["WEBIMAGE_DECODER": "/nonexistent/decoder"])
        #expect(run.status == 1)
        let lines = try CommandLineHarness.objects(run)
        let failure = try #require(lines.compactMap(\.error).first)
        #expect(failure.code == 1109 && failure.message.contains("/nonexistent/decoder"))
        #expect(failure.message.contains("SVGCoder(maximumInProcessByteCount:)"))
        #expect(lines.count == 2 && lines.contains { $0.format == "PNG" })
    }

    @Test func `An endless drawing is an error after some seconds`() async throws {
        let file = harness.directory.path("blurred.svg")
        var body = "<g id='g0' filter='url(#f)'><path d='M0 0h500v500'/></g>"
        for level in 1...8 {
            let uses = String(repeating: "<use href='#g\(level - 1)'/>", count: 10)
            body += "<g id='g\(level)'>\(uses)</g>"
        }
        let text = """
            <svg xmlns='http://www.w3.org/2000/svg' width='500' height='500'>
            <filter id='f'><feGaussianBlur stdDeviation='30'/></filter>\(body)</svg>
            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let run = try await harness.run("get", "--no-cache", "--json", "-o", "a.png", file)
        #expect(run.status == 1)
        #expect(try CommandLineHarness.objects(run).first?.error?.code == 1108, "\(run.output)")
    }

    @Test func `Prefetching checks images in workers`() async throws {
        let run = try await harness.run("prefetch", "--isolated", "--json", "file://" + Fixtures.path("JPEG/gray.jpg"))
        let line = try #require(try CommandLineHarness.objects(run).first)
        #expect(run.status == 0 && line.format == "JPEG", "\(run.output) \(run.errors)")
    }

    @Test(arguments: [[], ["--isolated"]])
    func `Messages of libraries about a rejected document are not printed`(option: [String]) async throws {
        let file = harness.directory.path("great-font.svg")
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><text y='40' font-size='1e9'>a</text></svg>"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let run = try await harness.run(
            ["get", "--no-cache", "--json", "-o", "font.png", file] + option,
            environment: ["RUST_BACKTRACE": "1"]
        )
        #expect(run.status == 1 && run.errors.isEmpty, "\(run.errors)")
        #expect(try CommandLineHarness.objects(run).first?.error?.code == 1001)
    }
}
