import FoundationEssentials
import TestSupport
import Testing

@Suite struct IdentifyTests {
    let harness = CommandLineHarness()

    @Test func `Every property is told, those unknown as null`() throws {
        let run = try harness.run("identify", "--json", Fixtures.path("JPEG/orientation-6.jpg"))
        #expect(run.status == 0)
        let line = try #require(try CommandLineHarness.objects(run).first)
        #expect(line.format == "JPEG" && line.width == 61 && line.height == 45 && line.orientation == 6)
        #expect(line.frames == 1 && line.durations == [] && line.loopCount == 0 && line.alpha == false)
        #expect(line.bytes == (try picture("JPEG/orientation-6.jpg").count))
        for key in ["colorProfile", "thumbHash", "source"] { #expect(run.output.contains("\"\(key)\":")) }
        #expect(try harness.run("identify", Fixtures.path("JPEG/orientation-6.jpg")).output.contains("orientation 6"))
    }

    @Test func `What is no picture fails by name, the others are told`() throws {
        try Data("text".utf8).write(to: URL(fileURLWithPath: harness.directory.path("a.jpg")))
        try Data().write(to: URL(fileURLWithPath: harness.directory.path("empty.jpg")))
        let run = try harness.run(
            "identify",
            "a.jpg",
            "empty.jpg",
            "missing.jpg",
            "/tmp",
            Fixtures.path("JPEG/gray.jpg")
        )
        #expect(run.status == 1)
        #expect(run.lines.count == 1)
        for name in ["a.jpg", "empty.jpg", "missing.jpg", "/tmp"] {
            #expect(run.errors.contains("webimage: \(name): "))
        }
    }

    @Test func `A header without its picture is refused with little memory`() throws {
        let bomb = PNGBomb.make(width: 30_000, height: 30_000)
        try Data(bomb).write(to: URL(fileURLWithPath: harness.directory.path("bomb.png")))
        let run = try harness.run("identify", "bomb.png")
        #expect(run.status == 1)
        #expect(run.errors.contains("maximumPixelCount"))
        #expect(run.peakMemory < 100 << 20)
    }
}
