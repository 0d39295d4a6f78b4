import FoundationEssentials
import TestSupport
import Testing
import WebImage

@Suite struct TilesTests {
    private let harness = CommandLineHarness()

    /// Writes a photo of several tiles, and returns its pixels.
    private func photo(_ name: String) throws -> Data {
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        try data.write(to: URL(filePath: harness.directory.path(name)))
        return data
    }

    private func image(_ path: String) async throws -> Image {
        try await Image.decode(Data(contentsOf: URL(filePath: harness.directory.path(path))))
    }

    private func names(_ path: String) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: harness.directory.path(path)))
    }

    @Test func `Deep Zoom tiles are those of vips dzsave`() async throws {
        _ = try photo("photo.jpg")
        let run = try await harness.run(
            "tiles",
            "photo.jpg",
            "-o",
            "ours",
            "--tile-size",
            "128",
            "--quality",
            "95",
            "--json"
        )
        #expect(run.status == 0, "\(run.errors)")
        let vips = try await ProgramRun.run(
            "/usr/bin/vips",
            ["dzsave", "photo.jpg", "theirs", "--tile-size", "128", "--overlap", "1", "--suffix", ".jpg[Q=95]"],
            directory: harness.directory.path
        )
        #expect(vips.status == 0, "\(vips.errors)")
        let tiles = try names("ours/image_files").filter { $0.hasSuffix(".jpg") }
        #expect(try tiles == names("theirs_files").filter { $0.hasSuffix(".jpg") })
        #expect(tiles.count > 10)
        for tile in tiles {
            let (ours, theirs) = try await (image("ours/image_files/\(tile)"), image("theirs_files/\(tile)"))
            #expect((ours.pixelWidth, ours.pixelHeight) == (theirs.pixelWidth, theirs.pixelHeight), "\(tile)")
            let differences = zip(ours.bitmap.pixels, theirs.bitmap.pixels).map { abs(Int($0) - Int($1)) }
            let mean = Double(differences.reduce(0, +)) / Double(max(differences.count, 1))
            #expect(mean < 6, "\(tile): \(mean)")
        }
        let description = try String(contentsOfFile: harness.directory.path("ours/image.dzi"), encoding: .utf8)
        #expect(description.contains("TileSize=\"128\"") && description.contains("Overlap=\"1\""))
    }

    @Test(arguments: ["jpg", "tif[tile,compression=deflate]"])
    func `A crop of an image that is too large to be decoded reads only what it needs`(_ format: String) async throws {
        let file = "gray." + format
        let name = String(file.prefix { $0 != "[" })
        // Copies of a small picture are made in a fifth of the time.
        for words in [
            ["grey", "small.v", "251", "241", "--uchar"], ["replicate", "small.v", file, "68", "67"],
            ["crop", name, "wanted.png", "15500", "15500", "90", "70"],
        ] {
            let vips = try await ProgramRun.run("/usr/bin/vips", words, directory: harness.directory.path)
            #expect(vips.status == 0, "\(vips.errors)")
        }
        for options in [["--no-cache"], ["--no-cache", "--isolated"]] {
            let whole = try await harness.run(["get", name, "-o", "whole.png"] + options)
            #expect(whole.status == 1 && whole.errors.contains("maximumPixelCount"), "\(whole.errors)")
            let words = ["get", name, "--crop", "15500,15500,90,70", "-o", "part\(options.count).png"]
            let crop = try await harness.run(words + options)
            #expect(crop.status == 0, "\(crop.errors)")
            let (part, wanted) = try await (image("part\(options.count).png"), image("wanted.png"))
            #expect((part.pixelWidth, part.pixelHeight) == (90, 70))
            #expect(part.premultipliedPixels == wanted.premultipliedPixels)
        }
    }

    @Test func `Levels of a tiled TIFF are those in the file`() async throws {
        _ = try photo("photo.jpg")
        let words = [
            "tiffsave", "photo.jpg", "map.tif", "--tile", "--pyramid", "--tile-width", "128", "--tile-height", "128",
        ]
        let vips = try await ProgramRun.run("/usr/bin/vips", words, directory: harness.directory.path)
        #expect(vips.status == 0, "\(vips.errors)")
        let run = try await harness.run("tiles", "map.tif", "-o", "ours", "--tile-size", "128", "--tile-format", "png")
        #expect(run.status == 0, "\(run.errors)")
        let page = ["copy", "map.tif[page=1]", "half.png"]
        #expect(try await ProgramRun.run("/usr/bin/vips", page, directory: harness.directory.path).status == 0)
        let half = try await image("half.png")
        let levels = try FileManager.default.contentsOfDirectory(atPath: harness.directory.path("ours/image_files"))
            .count
        let tile = try await image("ours/image_files/\(levels - 2)/1_1.png")
        let wanted = try half.cropped(to: ImageRect(x: 127, y: 127, width: 130, height: 130))
        #expect(tile.bitmap.pixels == wanted.bitmap.pixels)
        let crop = try await harness.run("get", "map.tif", "--crop", "500,200,150,99", "-o", "part.png")
        #expect(crop.status == 0, "\(crop.errors)")
        let copy = ["copy", "map.tif", "whole.png"]
        #expect(try await ProgramRun.run("/usr/bin/vips", copy, directory: harness.directory.path).status == 0)
        let part = try await image("whole.png").cropped(to: ImageRect(x: 500, y: 200, width: 150, height: 99))
        #expect(try await image("part.png").bitmap.pixels == part.bitmap.pixels)
    }

    @Test func `IIIF tiles have the names of the canonical requests`() async throws {
        let data = try photo("photo.jpg")
        let run = try await harness.run(
            "tiles",
            "photo.jpg",
            "-o",
            "map",
            "--format",
            "iiif",
            "--tile-size",
            "256",
            "--tile-format",
            "png"
        )
        #expect(run.status == 0, "\(run.errors)")
        let whole = try await Image.decode(data)
        let tile = try await image("map/0,0,256,256/256,256/0/default.png")
        let wanted = try whole.cropped(to: ImageRect(x: 0, y: 0, width: 256, height: 256))
        #expect(tile.bitmap.pixels == wanted.bitmap.pixels)
        let bytes = try Data(contentsOf: URL(filePath: harness.directory.path("map/info.json")))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"profile\":\"level0\"") && text.contains("\"scaleFactors\":[1,2"))
        #expect(text.contains("\"width\":\(whole.pixelWidth)"))
        #expect(try names("map").contains { $0.hasPrefix("full/") && $0.hasSuffix("/0/default.png") })
    }

    @Test func `A crop of a large file is that of the whole image`() async throws {
        let data = try photo("photo.jpg")
        let run = try await harness.run(
            "get",
            "photo.jpg",
            "--crop",
            "100,200,77,55",
            "--flip",
            "h",
            "-o",
            "part.png",
            "--json"
        )
        #expect(run.status == 0, "\(run.errors)")
        let rect = ImageRect(x: 100, y: 200, width: 77, height: 55)
        let wanted = try await Image.decode(data).cropped(to: rect).flipped(horizontally: true, vertically: false)
        #expect(try await image("part.png").bitmap.pixels == wanted.bitmap.pixels)
        #expect(try CommandLineHarness.objects(run).first?.width == 77)
        let outside = try await harness.run("get", "photo.jpg", "--crop", "9000,0,5,5", "-o", "none.png")
        #expect(outside.status == 1 && outside.errors.contains("outside the image"))
    }

    @Test func `Tiles overwrite nothing, unless it is asked for`() async throws {
        _ = try photo("photo.jpg")
        let words = ["tiles", "photo.jpg", "-o", "map", "--tile-size", "256"]
        try FileManager.default.createDirectory(
            atPath: harness.directory.path("map"),
            withIntermediateDirectories: true
        )
        #expect(try await harness.run(words).status == 0)
        let tile = harness.directory.path("map/image_files/0/0_0.jpg")
        try Data("changed".utf8).write(to: URL(filePath: tile))
        let refused = try await harness.run(words)
        #expect(refused.status == 1 && refused.errors.contains("map: the directory is not empty; --force"))
        #expect(try Data(contentsOf: URL(filePath: tile)) == Data("changed".utf8))
        #expect(try await harness.run(words + ["--force"]).status == 0)
        #expect(try Data(contentsOf: URL(filePath: tile)) != Data("changed".utf8))
    }

    @Test(arguments: [
        ["photo.jpg"], ["-o", "out"], ["photo.jpg", "-o", "out", "--format", "zip"],
        ["photo.jpg", "-o", "out", "--tile-size", "1"],
        ["photo.jpg", "-o", "out", "--id", "x"], ["https://example.com/a.jpg", "-o", "out"],
        ["photo.jpg", "-o", "out", "--format", "iiif", "--overlap", "1"],
    ])
    func `Invalid arguments are refused`(words: [String]) async throws {
        let run = try await harness.run(["tiles"] + words)
        #expect(run.status == 64 && run.errors.contains("webimage tiles --help"))
    }

    @Test func `A file that is no image, and one that is missing, are failures`() async throws {
        try Data("text".utf8).write(to: URL(filePath: harness.directory.path("text.jpg")))
        for name in ["text.jpg", "missing.jpg"] {
            let run = try await harness.run("tiles", name, "-o", "out")
            #expect(run.status == 1 && run.errors.contains(name))
        }
    }
}
