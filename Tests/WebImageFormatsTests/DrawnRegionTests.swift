import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageSVG

/// Regions of drawings, beside those of other programs' drawings.
@Suite(.tags(.addressSanitizer)) struct DrawnRegionTests {
    private static func rects(_ size: RegionLevel) -> [(x: Int, y: Int, width: Int, height: Int)] {
        let (width, height) = (size.width, size.height)
        return [
            (0, 0, width, height), (width / 3, height / 4, width / 2, height / 3), (width - 5, height - 7, 5, 7),
            (0, height / 2, width, 1),
        ]
    }

    /// Compares regions of a level with parts of a whole drawing.
    private static func compare(
        _ reader: any RegionReader,
        level: Int,
        with expected: PortableAnymap,
        maximum: Int,
        mean: Double
    ) async throws {
        let size = reader.levels[level]
        #expect((size.width, size.height) == (expected.width, expected.height))
        for rect in rects(size) {
            let region = try await reader.read(
                ImageRect(x: rect.x, y: rect.y, width: rect.width, height: rect.height),
                level: level
            )
            #expect(region.orientation == .up && region.animation == nil)
            let difference = PixelDifference(region.bitmap, expected.part(rect))
            #expect(difference.maximum <= maximum && difference.mean <= mean, "\(rect) \(difference)")
        }
    }

    @Test func `Regions of an SVG at its own size are those of another program's drawing`() async throws {
        let coders = ImageCodersManager(coders: [SVGCoder.inProcess])
        for name in ["shapes", "no-view-box", "entities", "width-only"] {
            let reader = try await coders.regionReader(for: Fixtures.data("SVG/\(name).svg"))
            let expected = try Fixtures.pixels("SVG/\(name).pam")
            try await Self.compare(reader, level: 0, with: expected, maximum: 3, mean: 0.6)
        }
    }

    @Test func `Levels of an SVG are drawn at their size, not scaled`() async throws {
        let coders = ImageCodersManager(coders: [SVGCoder.inProcess])
        var options = RegionOptions()
        options.tileSize = 64
        options.drawnSize = ImageSize(width: 120, height: 90)
        let reader = try await coders.regionReader(for: Fixtures.data("SVG/shapes.svg"), options: options)
        let (large, own) = try (Fixtures.pixels("SVG/shapes-120x90.pam"), Fixtures.pixels("SVG/shapes.pam"))
        try await Self.compare(reader, level: 0, with: large, maximum: 3, mean: 0.6)
        try await Self.compare(reader, level: 1, with: own, maximum: 3, mean: 0.6)
    }

    @Test func `Tiles of a drawing that are read at the same time are those of the whole drawing`() async throws {
        let data = try Fixtures.data("SVG/shapes.svg")
        let coders = ImageCodersManager(coders: [SVGCoder.inProcess])
        var options = RegionOptions()
        options.tileSize = 64
        options.drawnSize = ImageSize(width: 300, height: 300)
        let reader = try await coders.regionReader(for: data, options: options)
        var decoding = ImageDecodeOptions()
        decoding.thumbnailPixelSize = ImageSize(width: 300, height: 300)
        let whole = try SVGCoder.inProcess.decode(data, options: decoding)
        #expect(reader.pixelSize == ImageSize(width: whole.pixelWidth, height: whole.pixelHeight))
        let count = reader.tileCount(atLevel: 0)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for row in 0..<count.rows {
                for column in 0..<count.columns {
                    group.addTask {
                        let tile = try await reader.tile(column: column, row: row, level: 0)
                        let rect = ImageRect(
                            x: column * 64,
                            y: row * 64,
                            width: tile.pixelWidth,
                            height: tile.pixelHeight
                        )
                        return try tile.bitmap.pixels == whole.cropped(to: rect).bitmap.pixels
                    }
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test(.enabled(if: DecoderProgram.isSupported, "this system does not confine processes"), .timeLimit(.minutes(2)))
    func `Regions of a PDF are those of another program's drawing`() async throws {
        let coders = ImageCodersManager(coders: [PDFHarness.coder()])
        for name in ["cairo", "objects", "turned"] {
            let reader = try await coders.regionReader(for: Fixtures.data("PDF/\(name).pdf"))
            let expected = try Fixtures.pixels("PDF/\(name).ppm")
            // Parts of a page have more edges than the whole of it.
            try await Self.compare(reader, level: 0, with: expected, maximum: 255, mean: 13)
            let whole = try await PDFHarness.file(name)
            let rect = ImageRect(x: 7, y: 9, width: 50, height: 40)
            #expect(try await reader.read(rect, level: 0).bitmap.pixels == whole.cropped(to: rect).bitmap.pixels)
        }
    }
}

extension PortableAnymap {
    fileprivate func part(_ rect: (x: Int, y: Int, width: Int, height: Int)) -> PortableAnymap {
        var rows: [UInt8] = []
        for y in rect.y..<rect.y + rect.height {
            let first = (y * width + rect.x) * channels
            rows += samples[first..<first + rect.width * channels]
        }
        return PortableAnymap(width: rect.width, height: rect.height, channels: channels, samples: rows)
    }
}
