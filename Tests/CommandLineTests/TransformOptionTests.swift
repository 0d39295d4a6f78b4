import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// `webimage get` with the options that change pixels.
@Suite struct TransformOptionTests {
    let harness = CommandLineHarness()
    /// 120 × 90.
    private let source = Fixtures.path("PNG/photo-rgb.png")

    private func result(_ words: String...) async throws -> Image {
        let run = try await harness.run(["get", source, "-o", "out.png", "--no-cache"] + words)
        #expect(run.status == 0, "\(run.errors)")
        let data = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("out.png")))
        return try PNGCoder().decode(data, options: ImageDecodeOptions())
    }

    private func original() throws -> Image {
        try PNGCoder().decode(Fixtures.data("PNG/photo-rgb.png"), options: ImageDecodeOptions())
    }

    @Test func `Each option equals the library's transformer`() async throws {
        let image = try original()
        let cases: [([String], any ImageTransformer)] = [
            (["--crop", "5,3,20,10"], CroppingTransformer(rect: ImageRect(x: 5, y: 3, width: 20, height: 10))),
            (["--rotate", "-90"], RotationTransformer(angle: -.pi / 2)),
            (["--rotate=30"], RotationTransformer(angle: .pi / 6)),
            (["--flip", "h"], FlippingTransformer(horizontal: true, vertical: false)),
            (["--flip", "v"], FlippingTransformer(horizontal: false, vertical: true)),
            (["--round", "7.5"], RoundCornerTransformer(radius: 7.5)),
            (["--round", "6:tl,br"], RoundCornerTransformer(radius: 6, corners: [.topLeft, .bottomRight])),
            (
                ["--round", "6:all:2:#FF0000"],
                RoundCornerTransformer(
                    radius: 6,
                    borderWidth: 2,
                    borderColor: ImageColor(red: 1, green: 0, blue: 0)
                )
            ),
            (["--rotate", "30:cut"], RotationTransformer(angle: .pi / 6, fitSize: false)),
            (["--blur", "4"], BlurTransformer(radius: 4)),
            (
                ["--tint", "#80FF0000:source-atop"],
                TintTransformer(color: ImageColor(hex: "#80FF0000") ?? .clear, blendMode: .sourceAtop)
            ),
            (["--tint", "00FF00"], TintTransformer(color: ImageColor(red: 0, green: 1, blue: 0))),
            (["--grayscale"], ColorMatrixTransformer(matrix: .grayscale)),
            (["--sepia"], ColorMatrixTransformer(matrix: .sepia)),
            (["--invert"], ColorMatrixTransformer(matrix: .inverted)),
            (["--brightness", "1.2"], ColorMatrixTransformer(matrix: .brightness(1.2))),
            (["--contrast", "0.5"], ColorMatrixTransformer(matrix: .contrast(0.5))),
            (["--saturation", "0"], ColorMatrixTransformer(matrix: .saturation(0))),
            (["--hue", "180"], ColorMatrixTransformer(matrix: .hueRotation(.pi))),
        ]
        for (words, transformer) in cases {
            let run = try await harness.run(["get", source, "-o", "out.png", "--no-cache"] + words)
            #expect(run.status == 0, "\(run.errors)")
            let data = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("out.png")))
            let found = try PNGCoder().decode(data, options: ImageDecodeOptions())
            // After a conversion to straight alpha and back a premultiplied byte is the same.
            #expect(found.premultipliedPixels == (try transformer.transform(image).premultipliedPixels), "\(words)")
        }
    }

    @Test func `Options are applied in the given order`() async throws {
        let image = try original()
        let cropFirst = try await result("--crop", "0,0,20,10", "--rotate", "90", "--flip", "h")
        let wanted = try image.cropped(to: ImageRect(x: 0, y: 0, width: 20, height: 10)).rotated(by: .pi / 2)
            .flipped(horizontally: true, vertically: false)
        #expect(cropFirst.premultipliedPixels == wanted.premultipliedPixels)
        let turnFirst = try await result("--rotate", "90", "--crop", "0,0,20,10")
        let other = try image.rotated(by: .pi / 2).cropped(to: ImageRect(x: 0, y: 0, width: 20, height: 10))
        #expect(turnFirst.premultipliedPixels == other.premultipliedPixels)
    }

    @Test func `A thumbnail after another option is one of its result`() async throws {
        let before = try await result("--thumbnail", "20x20", "--crop", "0,0,10,10")
        #expect([before.pixelWidth, before.pixelHeight] == [10, 10])
        let after = try await result("--crop", "0,0,40,30", "--thumbnail", "20x20")
        #expect([after.pixelWidth, after.pixelHeight] == [20, 15])
        let never = try await result("--crop", "0,0,10,10", "--thumbnail", "20x20")
        #expect([never.pixelWidth, never.pixelHeight] == [10, 10], "never bigger")
        let twice = try await result("--thumbnail", "40x40", "--thumbnail", "20x20")
        #expect([twice.pixelWidth, twice.pixelHeight] == [20, 15])
    }

    @Test func `Lengths are pixels, also for an image of scale 2`() async throws {
        let path = harness.directory.path("photo@2x.png")
        try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: path))
        let run = try await harness.run("get", path, "--crop", "0,0,12,9", "-o", "out.png", "--json")
        let line = try #require(try CommandLineHarness.objects(run).first)
        #expect(line.width == 12 && line.height == 9)
    }

    @Test func `A crop outside an image fails only that source`() async throws {
        let small = Fixtures.path("JPEG/gray.jpg")
        let run = try await harness.run("get", source, small, "--crop", "100,70,5,5", "-o", "all", "--no-cache")
        #expect(run.status == 1)
        #expect(run.errors.contains("gray.jpg") && run.errors.contains("outside"))
        #expect(run.lines.count == 1)
    }

    @Test func `Transparent corners are composed with the background in JPEG`() async throws {
        let run = try await harness.run(
            "get",
            source,
            "--round",
            "20",
            "-o",
            "out.jpg",
            "--background",
            "#00FF00",
            "--no-cache",
            "-q",
            "100"
        )
        #expect(run.status == 0)
        let data = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("out.jpg")))
        let corner = try #require(
            JPEGCoder().decode(data, options: ImageDecodeOptions()).color(at: ImagePoint(x: 0, y: 0))
        )
        #expect(corner.green > 0.9 && corner.red < 0.1)
    }

    @Test(
        "An invalid value is reported with its option",
        arguments: [
            ["--crop", "1,2,3"], ["--crop", "1,2,0,4"], ["--crop", "a,b,c,d"], ["--crop", "-1,0,5,5"],
            ["--crop", "1,2,3,4,5"], ["--rotate", "x"], ["--rotate", "nan"], ["--rotate", "inf"], ["--flip", "x"],
            ["--flip", ""], ["--round", "-1"], ["--round", "0"], ["--round", "nan"], ["--blur", "0"],
            ["--blur", "soft"], ["--tint", "red"], ["--tint", "#12345"], ["--tint", "#FF0000:glow"],
            ["--tint", "#FF0000:screen:2"], ["--brightness", "-1"], ["--brightness", "x"], ["--contrast", "nan"],
            ["--saturation", ""], ["--hue", "red"], ["--resize", "0x3"], ["--resize", "3x4:odd"],
        ]
    )
    func nonsense(words: [String]) async throws {
        let run = try await harness.run(["get", source] + words)
        #expect(run.status == 64)
        #expect(run.errors.contains(words[0]) && run.output.isEmpty)
    }

    @Test func `The help names all options`() async throws {
        let help = try await harness.run("get", "--help").output
        for name in ["crop", "rotate", "flip", "round", "blur", "tint", "grayscale", "sepia", "invert", "hue"] {
            #expect(help.contains("--\(name)"))
        }
    }
}
