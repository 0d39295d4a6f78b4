import FoundationEssentials
import TestSupport
import Testing

@Suite struct IdentifyTests {
    let harness = CommandLineHarness()

    @Test func `Every property is shown, unknown ones as null`() async throws {
        let run = try await harness.run("identify", "--json", Fixtures.path("JPEG/orientation-6.jpg"))
        #expect(run.status == 0)
        let line = try #require(try CommandLineHarness.objects(run).first)
        #expect(line.format == "JPEG" && line.width == 61 && line.height == 45 && line.orientation == 6)
        #expect(line.frames == 1 && line.durations == [] && line.loopCount == 0 && line.alpha == false)
        #expect(line.bytes == (try fixtureBytes("JPEG/orientation-6.jpg").count))
        for key in ["colorProfile", "thumbHash", "blurHash", "source"] { #expect(run.output.contains("\"\(key)\":")) }
        #expect(
            try await harness.run("identify", Fixtures.path("JPEG/orientation-6.jpg")).output.contains("orientation 6")
        )
    }

    /// The output of exiftool, gifsicle, webpmux and ffprobe. Frames of 10 ms or less are shown for 100 ms, as in
    /// browsers.
    private static let images = [
        Expected("GIF/animated.gif", "GIF 40x30, 4 frames in 0.72 s, 2 times", [0.1, 0.1, 0.02, 0.5], loops: 2),
        Expected("GIF/loop-animexts-5.gif", "GIF 27x21, 3 frames in 1.62 s, 5 times", [0.1, 0.02, 1.5], loops: 5),
        Expected("GIF/animated-imagemagick.gif", "GIF 40x30, 4 frames in 0.28 s, forever", [0.07, 0.07, 0.07, 0.07]),
        Expected("WebP/animated.webp", "WebP 120x90, 3 frames in 1.07 s, 4 times", [0.07, 0.1, 0.9], loops: 4),
        Expected(
            "WebP/animated-gif2webp.webp",
            "WebP 40x30, 4 frames in 0.72 s, 3 times",
            [0.1, 0.1, 0.02, 0.5],
            loops: 3
        ),
        Expected("PNG/animated.png", "PNG 40x30, 3 frames in 0.4 s, 3 times", [0.05, 0.1, 0.25], loops: 3),
        Expected("PNG/animated-default-image.png", "PNG 40x30, 2 frames in 0.35 s, 3 times", [0.1, 0.25], loops: 3),
        Expected(
            "Animation/apng-ffmpeg.png",
            "PNG 20x16, 5 frames in 0.4 s, 4 times",
            [0.08, 0.08, 0.08, 0.08, 0.08],
            loops: 4
        ),
        Expected("PNG/photo-rgba.png", "PNG 120x90, alpha", alpha: true),
        Expected("PNG/photo-rgb.png", "PNG 120x90"),
        Expected("PNG/icc-wide.png", "PNG 40x30, profile 'Test wide RGB'", profile: "Test wide RGB"),
        Expected("JPEG/icc-wide.jpg", "JPEG 61x45, profile 'Test wide RGB'", profile: "Test wide RGB"),
        Expected("JPEG/orientation-6.jpg", "JPEG 61x45, orientation 6", orientation: 6),
        Expected("PNG/orientation-5.png", "PNG 24x16, orientation 5", orientation: 5),
        Expected("WebP/orientation-8.webp", "WebP 33x27, orientation 8", orientation: 8),
    ]

    @Test(arguments: Self.images)
    func `Frames, durations, loops, alpha, profile and orientation match other programs`(
        _ expected: Expected
    ) async throws {
        let path = Fixtures.path(expected.name)
        let run = try await harness.run("identify", "--json", path)
        #expect(run.status == 0 && run.errors.isEmpty)
        let line = try #require(try CommandLineHarness.objects(run).first)
        let (format, width, height) = (line.format ?? "", line.width ?? 0, line.height ?? 0)
        #expect(line.source == path && expected.text.prefix { $0 != "," } == "\(format) \(width)x\(height)")
        #expect(line.frames == max(expected.durations.count, 1) && line.loopCount == expected.loops)
        #expect(line.durations?.map { ($0 * 1000).rounded() } == expected.durations.map { ($0 * 1000).rounded() })
        #expect(line.alpha == expected.alpha && line.orientation == expected.orientation)
        #expect(line.colorProfile == expected.profile)
        #expect(line.bytes == (try fixtureBytes(expected.name).count) && line.thumbHash?.isEmpty == false)
        let told = try await harness.run("identify", path)
        #expect(told.status == 0 && told.lines.count == 1)
        let hashes = "ThumbHash \(line.thumbHash ?? "none"), BlurHash \(line.blurHash ?? "none")\n"
        let rest = told.output.dropFirst("\(path): \(expected.text), ".count).dropLast(hashes.count).split(
            separator: ","
        )
        #expect(told.output.hasPrefix("\(path): \(expected.text), ") && rest.count == 2, "\(told.output)")
        #expect(rest.last == " " && told.output.hasSuffix(hashes))
    }

    @Test func `A file that is not an image fails by name, and the others are shown`() async throws {
        try Data("text".utf8).write(to: URL(fileURLWithPath: harness.directory.path("a.jpg")))
        try Data().write(to: URL(fileURLWithPath: harness.directory.path("empty.jpg")))
        let run = try await harness.run(
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

    /// One small file is read on the main thread, several are read by the library's threads.
    @Test(arguments: [
        "PNG/photo-rgba.png", "PNG/animated.png", "JPEG/orientation-6.jpg", "GIF/animated.gif", "WebP/animated.webp",
        "BMP/declared-srgb.bmp", "ICO/alpha-32bit.ico", "SVG/shapes.svg",
    ])
    func `A file is described alone as beside others, also if its pixels are missing`(name: String) async throws {
        let cut = harness.directory.path("cut")
        let bytes = try fixtureBytes(name)
        try Data(bytes.prefix(bytes.count * 3 / 4)).write(to: URL(fileURLWithPath: cut))
        for path in [Fixtures.path(name), cut] {
            for options in [[], ["--json"], ["--page", "1"]] {
                let alone = try await harness.run(["identify"] + options + [path])
                let both = try await harness.run(["identify"] + options + [path, path])
                #expect(both.status == alone.status && both.output == alone.output + alone.output)
                #expect(both.errors == alone.errors + alone.errors)
            }
        }
    }

    @Test func `A local file is read without creating a cache`() async throws {
        let cache = harness.directory.path("cache")
        let file = Fixtures.path("JPEG/gray.jpg")
        #expect(try await harness.run("identify", "--cache-dir", cache, file).status == 0)
        #expect(!FileManager.default.fileExists(atPath: cache))
        #expect(try await harness.run("identify", "--cache-dir", cache, "--cache-only", file).status == 1)
        // Another kind of source beside it needs one.
        let url = "data:image/jpeg;base64," + Data(try fixtureBytes("JPEG/gray.jpg")).base64EncodedString()
        #expect(try await harness.run("identify", "--cache-dir", cache, file, url).lines.count == 2)
        #expect(FileManager.default.fileExists(atPath: cache))
    }

    @Test func `Data after an image, and a profile of any length, is not copied`() async throws {
        let photo = Data(try fixtureBytes("JPEG/photo.jpg"))
        let idle = try await harness.run(["identify", Fixtures.path("JPEG/photo.jpg")], measuresMemory: true).peakMemory
        var profile = Data()
        for number in 1...255 {
            let body = Data("ICC_PROFILE".utf8) + [0, UInt8(number), 255] + Data(count: 65_519)
            profile += [0xFF, 0xE2, 0xFF, 0xFF] + body
        }
        let files = [
            "trail.jpg": photo + Data(repeating: 0x5A, count: 50_000_000),
            "profile.jpg": photo.prefix(2) + profile + photo.dropFirst(2),
        ]
        for (name, data) in files {
            try data.write(to: URL(fileURLWithPath: harness.directory.path(name)))
            let body = [UInt8](data)
            let server = try LoopbackServer { _ in .response(body: body) }
            for source in [name, server.url("/\(name)").absoluteString] {
                let run = try await harness.run(["identify", "--no-cache", source], measuresMemory: true)
                #expect(run.status == 0 && run.output.contains("JPEG 480x360"))
                #expect(run.peakMemory < idle + 64 << 20, "\(source): \((run.peakMemory - idle) >> 20) MiB")
            }
        }
    }

    @Test func `A header without its image is refused with little memory`() async throws {
        let bomb = PNGBomb.make(width: 30_000, height: 30_000)
        try Data(bomb).write(to: URL(fileURLWithPath: harness.directory.path("bomb.png")))
        let run = try await harness.run(["identify", "bomb.png"], measuresMemory: true)
        #expect(run.status == 1)
        #expect(run.errors.contains("maximumPixelCount"))
        #expect(run.peakMemory < 100 << 20)
    }
}

/// Another program's description of a fixture.
struct Expected: Sendable, CustomTestStringConvertible {
    let name: String
    /// The line for people, up to the bytes: format and size as stored, then unusual properties.
    let text: String
    /// Seconds of each frame; empty for a still image.
    let durations: [Double]
    let loops: Int
    let alpha: Bool
    let orientation: Int
    let profile: String?

    init(
        _ name: String,
        _ text: String,
        _ durations: [Double] = [],
        loops: Int = 0,
        alpha: Bool = false,
        orientation: Int = 1,
        profile: String? = nil
    ) {
        (self.name, self.text, self.durations, self.loops) = (name, text, durations, loops)
        (self.alpha, self.orientation, self.profile) = (alpha, orientation, profile)
    }

    var testDescription: String { name }
}
