import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct JPEGRegionTests {
    private static let whole = [
        "baseline-420", "baseline-422", "baseline-444", "cmyk", "cmyk-icc", "ycck", "gray", "icc-gray", "icc-wide",
        "rgb-kept",
        "restart", "photo",
    ]
    private static let files =
        whole.map { "JPEG/\($0).jpg" } + (1...8).map { "JPEG/orientation-\($0).jpg" }
        + JPEGRestartTests.files.map { "Restarts/\($0).jpg" }

    private func reader(_ data: Data, _ options: RegionOptions = RegionOptions()) async throws -> ImageRegionReader {
        try await RegionBytes(data).reader(coders: ImageCodersManager(), options: options)
    }

    /// Rectangles at the corners, in the middle, and across the edge.
    private static func rects(_ size: RegionLevel) -> [ImageRect] {
        let (width, height) = (Double(size.width), Double(size.height))
        return [
            ImageRect(x: 0, y: 0, width: width, height: height),
            ImageRect(x: width / 3, y: height / 3, width: max(width / 4, 1), height: max(height / 5, 1)),
            ImageRect(x: width - 7, y: height - 5, width: 20, height: 20),
            ImageRect(x: -3, y: height / 2, width: 10, height: 1), ImageRect(x: width / 2, y: 0, width: 1, height: 9),
        ]
    }

    @Test(arguments: files)
    func `A region has the pixels of the whole image`(name: String) async throws {
        let format: PixelFormat? = name.contains("orientation") ? .bgra8Premultiplied : nil
        let data = try Fixtures.data(name)
        var options = RegionOptions()
        options.pixelFormat = format
        let reader = try await reader(data, options)
        // 4:1:1 has no index.
        #expect(reader.isNative != name.contains("411"))
        let image = try JPEGCoder().decode(data, options: options.decoding)
        #expect(reader.levels[0] == RegionLevel(width: image.pixelWidth, height: image.pixelHeight))
        for rect in Self.rects(reader.levels[0]) {
            let region = try await reader.read(rect, level: 0)
            #expect(try region.bitmap.pixels == image.cropped(to: rect).bitmap.pixels, "\(name) \(rect)")
            #expect(region.bitmap.pixelFormat == image.bitmap.pixelFormat && region.orientation == .up)
        }
    }

    @Test(arguments: TestEffort.some(of: files))
    func `Smaller levels look like the image`(name: String) async throws {
        let data = try Fixtures.data(name)
        var options = RegionOptions()
        options.tileSize = 64
        let reader = try await reader(data, options)
        for (level, size) in reader.levels.enumerated().dropFirst() {
            let all = ImageRect(x: 0, y: 0, width: size.width, height: size.height)
            let image = try await reader.read(all, level: level)
            var small = ImageDecodeOptions()
            small.thumbnailPixelSize = ImageSize(width: size.width, height: size.height)
            small.preserveAspectRatio = false
            small.scalingQuality = .fast
            let expected = try JPEGCoder().decode(data, options: small)
            #expect((image.pixelWidth, image.pixelHeight) == (size.width, size.height))
            let (found, wanted) = (image.bitmap.pixels, expected.bitmap.pixels)
            let sum = zip(found, wanted).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(sum) / Double(found.count) < 8, "\(name) at level \(level)")
        }
    }

    @Test func `Regions of a file are read without loading it`() async throws {
        let directory = TemporaryDirectory()
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        // Comments before the image data make the file larger than what is loaded.
        var file = data.prefix(2)
        for _ in 0..<260 { file += Data([0xFF, 0xFE, 0xFF, 0xFF]) + Data(count: 0xFFFD) }
        file += data.dropFirst(2)
        try file.write(to: URL(filePath: directory.path("large.jpg")))
        #expect(file.count > JPEGRegions.maximumLoadedByteCount)
        var options = RegionOptions()
        options.limits.maximumEncodedByteCount = 1 << 20
        let reader = try await ImageCodersManager().regionReader(
            forFileAt: directory.path("large.jpg"),
            options: options
        )
        let rect = ImageRect(x: 100, y: 300, width: 200, height: 100)
        let region = try await reader.read(rect, level: 0)
        let image = try JPEGCoder().decode(data, options: options.decoding)
        #expect(try region.bitmap.pixels == image.cropped(to: rect).bitmap.pixels)
    }

    @Test func `Damaged data is painted over as in the whole image`() async throws {
        for name in ["damaged-codes", "damaged-restarts"] {
            let data = try Fixtures.data("JPEG/\(name).jpg")
            let reader = try await reader(data)
            let size = reader.levels[0]
            let all = ImageRect(x: 0, y: 0, width: size.width, height: size.height)
            let image = try JPEGCoder().decode(data, options: ImageDecodeOptions())
            #expect(try await reader.read(all, level: 0).bitmap.pixels == image.bitmap.pixels)
        }
    }

    @Test func `Coefficients beyond the range of 8-bit images are decoded with the whole image`() async throws {
        var data = Data([0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0]) + Data(repeating: 1, count: 64)
        data += [0xFF, 0xC0, 0, 11, 8, 0, 16, 0, 8, 1, 1, 0x11, 0]
        // One code in each table: a difference of 11 bits, and the end of the block.
        data += [0xFF, 0xC4, 0, 20, 0, 1] + Data(count: 15) + [11]
        data += [0xFF, 0xC4, 0, 20, 0x10, 1] + Data(count: 15) + [0]
        data += [0xFF, 0xDD, 0, 4, 0, 1, 0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        // 2000 and -2000: each has 11 bits after a restart, but their difference has 12.
        data += [0x7D, 0x07, 0xFF, 0xD0, 0x02, 0xF7, 0xFF, 0xD9]
        let reader = try await reader(data)
        #expect(reader.isNative)
        let image = try JPEGCoder().decode(data, options: ImageDecodeOptions())
        let region = try await reader.read(ImageRect(x: 0, y: 0, width: 8, height: 16), level: 0)
        #expect(region.bitmap.pixels == image.bitmap.pixels)
        #expect(!reader.isNative)
    }

    @Test func `A header that changed since it was first read is an error`() throws {
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        let options = RegionOptions()
        var properties = try JPEGCoder().properties(of: data, limits: options.limits)
        properties.width *= 4
        let size = RegionLevel(width: properties.width, height: properties.height)
        let error = #expect(throws: WebImageError.self) {
            try JPEGCoder().regions(
                of: RegionBytes(data),
                properties: properties,
                levels: size.pyramid(tileSize: 512),
                options: options
            )
        }
        #expect(error?.code == .badImageData)
    }

    @Test func `Data in memory is subject to the limit of encoded bytes`() async throws {
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        var options = RegionOptions()
        options.limits.maximumEncodedByteCount = data.count - 1
        let error = await #expect(throws: WebImageError.self) { try await reader(data, options) }
        #expect(error?.limit?.name == "maximumEncodedByteCount")
        let directory = TemporaryDirectory()
        let path = directory.path("small.jpg")
        try data.write(to: URL(filePath: path))
        // Of a file only a window is in memory.
        let file = try await ImageCodersManager().regionReader(forFileAt: path, options: options)
        let rect = ImageRect(x: 10, y: 20, width: 30, height: 40)
        let image = try JPEGCoder().decode(data, options: ImageDecodeOptions())
        #expect(try await file.read(rect, level: 0).bitmap.pixels == image.cropped(to: rect).bitmap.pixels)
    }

    @Test func `Truncated data is an error`() async throws {
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        let reader = try await reader(data.prefix(data.count / 2))
        let error = await #expect(throws: WebImageError.self) {
            try await reader.read(ImageRect(x: 0, y: 0, width: 8, height: 8), level: 0)
        }
        #expect(error?.code == .badImageData)
    }

    @Test(arguments: ["progressive", "arithmetic", "non-interleaved", "many-scans"])
    func `Images that need all of their data are decoded as a whole`(name: String) async throws {
        let data = try Fixtures.data("JPEG/\(name).jpg")
        let reader = try await reader(data)
        #expect(!reader.isNative)
        let rect = ImageRect(x: 3, y: 4, width: 9, height: 8)
        let image = try JPEGCoder().decode(data, options: ImageDecodeOptions())
        #expect(try await reader.read(rect, level: 0).bitmap.pixels == image.cropped(to: rect).bitmap.pixels)
    }

    @Test func `An image beyond the limit of pixels is opened, and its regions are within the limit`() async throws {
        let data = try Fixtures.data("Restarts/rows-420.jpg")
        var options = RegionOptions()
        options.limits.maximumPixelCount = 10_000
        let reader = try await reader(data, options)
        _ = try await reader.read(ImageRect(x: 40, y: 40, width: 100, height: 100), level: 0)
        let error = await #expect(throws: WebImageError.self) {
            try await reader.read(ImageRect(x: 40, y: 40, width: 101, height: 100), level: 0)
        }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumPixelCount")
        options.maximumImagePixelCount = 10_000
        await #expect(throws: WebImageError.self) { try await self.reader(data, options) }
    }

    @Test func `All bytes can be damaged`() async throws {
        let data = try Fixtures.data("JPEG/baseline-420.jpg")
        for seed in 0..<TestEffort.rounds(100) {
            var bytes = [UInt8](data)
            for step in 0..<4 {
                bytes[(seed * 7919 + step * 104_729) % bytes.count] = UInt8(truncatingIfNeeded: seed &* 31 &+ step)
            }
            guard let reader = try? await reader(Data(bytes)), reader.levels[0].pixelCount < 1 << 20 else { continue }
            for level in reader.levels.indices {
                let size = reader.levels[level]
                _ = try? await reader.read(
                    ImageRect(x: size.width / 2, y: size.height / 2, width: 40, height: 40),
                    level: level
                )
            }
        }
    }
}
