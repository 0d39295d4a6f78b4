import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// One file of each format besides JPEG, PNG, GIF and WebP.
@Suite struct FormatTests {
    let harness = CommandLineHarness()

    private static let images = [
        Expected("BMP/header40-8bit.bmp", "BMP 19x13"), Expected("BMP/rle8-delta.bmp", "BMP 19x13, alpha", alpha: true),
        Expected("ICO/pillow-png.ico", "ICO 40x40, alpha", alpha: true),
        Expected("TIFF/same-lzw.tiff", "TIFF 37x35"),
        Expected("TIFF/icc-wide.tiff", "TIFF 28x20, profile 'Test wide RGB'", profile: "Test wide RGB"),
        Expected("TIFF/orientation-6.tiff", "TIFF 24x16, orientation 6", orientation: 6),
        Expected("SVG/shapes.svg", "SVG 60x40, alpha", alpha: true),
    ]

    @Test(arguments: Self.images)
    func `Every format is identified`(_ expected: Expected) async throws {
        let path = Fixtures.path(expected.name)
        let run = try await harness.run("identify", "--json", path)
        #expect(run.status == 0 && run.errors.isEmpty)
        let line = try #require(try CommandLineHarness.objects(run).first)
        #expect("\(line.format ?? "") \(line.width ?? 0)x\(line.height ?? 0)" == expected.text.prefix { $0 != "," })
        #expect(line.frames == 1 && line.alpha == expected.alpha && line.orientation == expected.orientation)
        #expect(line.colorProfile == expected.profile && line.thumbHash?.isEmpty == false)
        let told = try await harness.run("identify", path)
        #expect(told.output.hasPrefix("\(path): \(expected.text), "), "\(told.output)")
    }

    @Test func `Bits per component and high dynamic range are shown`() async throws {
        let deep = try await harness.run("identify", Fixtures.path("AVIF/10bit-420.avif"))
        #expect(deep.output.contains(", 10 bits, ") && !deep.output.contains("dynamic"))
        let wide = try await harness.run("identify", Fixtures.path("HDR/pq-bt2020.avif"))
        #expect(wide.output.contains(" bits, high dynamic range, "), "\(wide.output)")
        let json = try await harness.run("identify", "--json", Fixtures.path("HDR/pq-bt2020.avif")).output
        #expect(json.contains("\"bitsPerComponent\":1") && json.contains("\"highDynamicRange\":true"))
        let plain = try await harness.run("identify", "--json", Fixtures.path("JPEG/gray.jpg")).output
        #expect(plain.contains("\"bitsPerComponent\":8") && plain.contains("\"highDynamicRange\":false"))
    }

    @Test func `An image is read from standard input, however often it is named`() async throws {
        let drawing = #"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="9"/></svg>"#
        let told = try await harness.run("identify", "-", "-", input: drawing)
        #expect(told.status == 0 && told.lines.count == 2)
        #expect(told.lines.allSatisfy { $0.hasPrefix("-: SVG 30x20, alpha, ") }, "\(told.output)")
        #expect(try await harness.run("get", "-", "-o", "made/", "-f", "png", input: drawing).status == 0)
        let made = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("made/image.png")))
        #expect(try PNGCoder().properties(of: made, limits: ImageLimits()).width == 30)
        let empty = try await harness.run("identify", "-")
        #expect(empty.status == 1 && empty.errors.hasPrefix("webimage: -: "), "\(empty.errors)")
        // In a list it is the name of a file.
        #expect(try await harness.run("prefetch", "-", input: "-\n").errors.contains("-: "))
    }

    @Test func `The pages of a TIFF are shown`() async throws {
        #expect(try await harness.run("identify", Fixtures.path("TIFF/pages-3.tiff")).output.contains(", 3 pages, "))
        let run = try await harness.run("identify", "--json", Fixtures.path("TIFF/pages-3.tiff"))
        #expect(run.output.contains("\"pages\":3"))
        #expect(
            try await harness.run("identify", "--json", Fixtures.path("SVG/shapes.svg")).output.contains("\"pages\":1")
        )
    }

    @Test func `A page of a PDF is identified and converted by its number, counted from 1`() async throws {
        let path = Fixtures.path("PDF/reportlab.pdf")
        let first = try await harness.run("identify", path)
        #expect(first.output.hasPrefix("\(path): PDF 80x50, 3 pages, "), "\(first)")
        let second = try await harness.run("identify", "--page", "2", path)
        #expect(second.output.hasPrefix("\(path): PDF 40x90, 3 pages, "), "\(second)")
        let sizes = [("1", "80x50"), ("2", "40x90"), ("3", "64x64")]
        for (page, size) in sizes {
            #expect(try await harness.run("get", path, "--page", page, "-o", "p.png").status == 0)
            #expect(try await harness.run("identify", "p.png").output.hasPrefix("p.png: PNG \(size), "))
        }
        #expect(try await harness.run("get", path, "--page", "3", "-t", "320x999", "-o", "big/").status == 0)
        #expect(try await harness.run("identify", "big/reportlab.png").output.contains(": PNG 320x320, "))
        for words in [["identify"], ["get", "-o", "none.png"]] {
            let none = try await harness.run(words + [path, "--page", "4"])
            #expect(none.status == 1 && none.errors.contains("there is no page 4 of 3 pages"), "\(none)")
        }
        #expect(try await harness.run("get", path, "--page", "0").status == 64)
        // Without a page, a document is copied.
        #expect(try await harness.run("get", path, "-o", "copies/").status == 0)
        let copy = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("copies/reportlab.pdf")))
        #expect(copy == (try Fixtures.data("PDF/reportlab.pdf")))
    }

    @Test func `A raw file is identified by its sensor, and converted by its preview or developed`() async throws {
        let path = Fixtures.path("RAW/nikon.nef")
        let facts = try await harness.run("identify", path)
        #expect(facts.output.hasPrefix("\(path): RAW 95x64, orientation 8, 16 bits, "), "\(facts)")
        for (development, size) in [([], "64x96"), (["preview"], "64x96"), (["full"], "64x95")] {
            let words = development.flatMap { ["--raw-development", $0] }
            #expect(try await harness.run(["get", path, "-o", "a.png"] + words + ["--force"]).status == 0)
            #expect(try await harness.run("identify", "a.png").output.hasPrefix("a.png: PNG \(size), "))
        }
        #expect(try await harness.run("get", path, "--raw-development", "half").status == 64)
        // Without an option it is copied, and a developed image is a JPEG.
        #expect(try await harness.run("get", path, "-o", "copies/").status == 0)
        let copy = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("copies/nikon.nef")))
        #expect(copy == (try Fixtures.data("RAW/nikon.nef")))
        #expect(try await harness.run("get", path, "--raw-development", "full", "-o", "made/").status == 0)
        #expect(try await harness.run("identify", "made/nikon.jpg").output.contains(": JPEG 64x95, "))
        let none = try await harness.run("get", Fixtures.path("RAW/pidng.dng"), "-o", "b.png")
        #expect(none.status == 1 && none.errors.contains("no preview"), "\(none)")
    }

    @Test func `Without the program for PDF the error says how to get it`() async throws {
        let path = Fixtures.path("PDF/cairo.pdf")
        let run = try await harness.run("identify", path, environment: ["WEBIMAGE_DECODER_PDF": "/nonexistent/decoder"])
        #expect(run.status == 1 && run.errors.contains("/nonexistent/decoder"), "\(run.errors)")
    }

    @Test func `A video is identified, and any frame of it written`() async throws {
        let path = Fixtures.path("Video/wide.mp4")
        let line = try await harness.run("identify", path)
        #expect(line.output.hasPrefix("\(path): MP4 128x64, 2.0 s, "), "\(line)")
        #expect(try await harness.run("identify", "--json", path).output.contains("\"videoDuration\":2"))
        #expect(
            try await harness.run("identify", "--json", Fixtures.path("SVG/shapes.svg")).output.contains(
                "\"videoDuration\":null"
            )
        )
        #expect(try await harness.run("get", path, "--at", "1.1", "-o", "a.png").status == 0)
        let made = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("a.png")))
        let image = try PNGCoder().decode(made, options: ImageDecodeOptions())
        let expected = try Fixtures.pixels("Video/wide.mp4-1.1.ppm")
        #expect(PixelDifference(image.bitmap, expected).mean <= 0.3)
        #expect(try await harness.run("get", path, "-t", "64x64", "-o", "stills/").status == 0)
        #expect(try await harness.run("identify", "stills/wide.jpg").output.hasPrefix("stills/wide.jpg: JPEG 64x32, "))
        for time in ["-1", "nan", "x"] {
            #expect(try await harness.run("get", path, "--at=\(time)").status == 64, "\(time)")
        }
        let none = try await harness.run(
            "identify",
            path,
            environment: ["WEBIMAGE_DECODER_VIDEO": "/nonexistent/decoder"]
        )
        #expect(none.status == 1 && none.errors.contains("/nonexistent/decoder"), "\(none.errors)")
    }

    @Test(arguments: ["BMP/header40-8bit.bmp", "ICO/pillow-png.ico", "TIFF/same-lzw.tiff", "SVG/shapes.svg"])
    func `Every format is converted, and copied without changes`(name: String) async throws {
        let path = Fixtures.path(name)
        let run = try await harness.run("get", path, "--format", "png", "-o", "a.png")
        #expect(run.status == 0, "\(run.errors)")
        let made = try Data(contentsOf: URL(fileURLWithPath: harness.directory.path("a.png")))
        let image = try PNGCoder().decode(made, options: ImageDecodeOptions())
        let directory = name.prefix { $0 != "." }.replacing("same-lzw", with: "same")
        let expected = try Fixtures.pixels("\(directory).pam")
        #expect(PixelDifference(image.bitmap, expected).maximum <= 2)
        #expect(try await harness.run("get", path, "-o", "copies/").status == 0)
        let copy = harness.directory.path("copies/\(name.split(separator: "/")[1])")
        let copied = try Data(contentsOf: URL(fileURLWithPath: copy))
        #expect(try copied == Fixtures.data(name))
    }

    @Test func `TIFF and BMP are written`() async throws {
        for (words, format) in [
            (["--format", "tiff", "-o", "a"], .tiff), (["-o", "b.tif"], .tiff), (["-o", "c.tiff"], .tiff),
            (["--format", "bmp", "-o", "d"], .bmp), (["-o", "e.bmp"], .bmp),
        ] as [([String], ImageFormat)] {
            #expect(try await harness.run(["get", Fixtures.path("PNG/photo-rgba.png")] + words).status == 0)
            let path = harness.directory.path(words[words.count - 1])
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(ImageFormat(detecting: data) == format)
        }
    }

    @Test func `A drawing is drawn at the requested size, and written as PNG`() async throws {
        let run = try await harness.run("get", Fixtures.path("SVG/shapes.svg"), "-t", "300", "-o", "out/")
        #expect(run.status == 0 && run.output.hasPrefix("out/shapes.png  300x200 PNG"), "\(run.output)\(run.errors)")
        let icon = try await harness.run("get", Fixtures.path("ICO/pillow-png.ico"), "-t", "16", "-o", "out/")
        #expect(icon.status == 0 && icon.output.hasPrefix("out/pillow-png.png  16x16 PNG"), "\(icon.output)")
    }
}
