import TestSupport
import Testing

/// The example with a window; the others are in `CommandLineTests`.
@Suite(.serialized, .needsDisplay) struct GalleryExampleTests {
    private let directory = TemporaryDirectory()

    private func run(_ words: String...) throws -> ProgramRun {
        try ProgramRun(
            ProgramRun.product("example-GTKGallery"),
            words,
            environment: ["XDG_CACHE_HOME": directory.path("cache")]
        )
    }

    @Test func `GTKGallery shows remote images in its grid`() throws {
        let image = [UInt8](try Fixtures.data("JPEG/gray.jpg"))
        let server = try LoopbackServer { _ in .response(body: image) }
        let run = try run("--quit-after", "24", "http://127.0.0.1:\(server.port)/{}.jpg")
        #expect(run.status == 0, "\(run.errors)")
        // Loads that end together are all counted before the program ends.
        let summary = try #require(run.lines.last?.wholeMatch(of: #/(\d+) of 500 images loaded, 0 failed/#))
        #expect(run.lines.count == 1 && Int(summary.1)! >= 24)
        #expect(Set(server.requests.map(\.path)).isSuperset(of: ["/0.jpg", "/1.jpg", "/2.jpg"]))
        #expect(!run.errors.contains("CRITICAL") && !run.errors.contains("WARNING"), "\(run.errors)")
    }

    @Test func `GTKGallery shows which images failed`() throws {
        let server = try LoopbackServer { _ in .response(404) }
        let run = try run("--quit-after", "3", "http://127.0.0.1:\(server.port)/{}.jpg")
        #expect(run.status == 1)
        #expect(run.lines.dropLast().allSatisfy { $0.contains("http://127.0.0.1:\(server.port)/") })
        let summary = try #require(run.lines.last?.wholeMatch(of: #/0 of 500 images loaded, (\d+) failed/#))
        #expect(run.lines.count == Int(summary.1)! + 1 && run.lines.count > 3)
    }
}
