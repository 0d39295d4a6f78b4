import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageTIFF

@Suite(.tags(.addressSanitizer)) struct TIFFRegionTests {
    private static let tiled = Fixtures.names(in: "TIFF", ending: "tiff").filter { $0.contains("tiles") }

    @Test func `All tiled fixtures were found`() { #expect(Self.tiled.count >= 3) }

    @Test(arguments: tiled)
    func `A region of tiles has the pixels of the whole image`(name: String) async throws {
        let data = try Fixtures.data("TIFF/\(name).tiff")
        let coders = ImageCodersManager(coders: [TIFFCoder()])
        let reader = try await coders.regionReader(for: data)
        let image = try TIFFCoder().decode(data, options: ImageDecodeOptions())
        let (width, height) = (Double(image.pixelWidth), Double(image.pixelHeight))
        let rects = [
            ImageRect(x: 0, y: 0, width: width, height: height),
            ImageRect(x: width / 2, y: height / 2, width: width / 3, height: height / 3),
            ImageRect(x: width - 2, y: height - 1, width: 9, height: 9),
        ]
        for rect in rects {
            let region = try await reader.read(rect, level: 0)
            #expect(try region.bitmap.pixels == image.cropped(to: rect).bitmap.pixels, "\(rect)")
        }
    }

    /// A file of one colour with a smaller image. Both have one tile; only the first image has a colour profile.
    private func pyramid(_ profile: Data) -> Data {
        var file = Data("II*\0".utf8)
        func put(_ value: Int, _ count: Int) {
            for index in 0..<count { file.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        let sides = [128, 64]
        let ends = [8 + profile.count + 6, 8 + profile.count + 6 + 3 * 128 * 128]
        put(ends[1] + 3 * 64 * 64, 4)
        file += profile
        for _ in 0..<3 { put(8, 2) }
        for side in sides { for _ in 0..<side * side { file += [200, 30, 60] } }
        for (index, side) in sides.enumerated() {
            var entries: [(tag: Int, type: Int, count: Int, value: Int)] = [
                (254, 4, 1, index), (256, 4, 1, side), (257, 4, 1, side), (258, 3, 3, 8 + profile.count),
                (259, 3, 1, 1), (262, 3, 1, 2), (277, 3, 1, 3), (322, 4, 1, side), (323, 4, 1, side),
                (324, 4, 1, ends[index]), (325, 4, 1, 3 * side * side),
            ]
            if index == 0 { entries.append((34675, 7, profile.count, 8)) }
            put(entries.count, 2)
            for entry in entries {
                put(entry.tag, 2)
                put(entry.type, 2)
                put(entry.count, 4)
                put(entry.value, 4)
            }
            put(index == 0 ? file.count + 4 : 0, 4)
        }
        return file
    }

    @Test func `A smaller image without a colour profile has that of the first image`() async throws {
        let fixture = try Fixtures.data("TIFF/icc-wide.tiff")
        var profile = try #require(try fixture.withBytes { try TIFFFile($0, limits: .init()).colorProfile(.init()) })
        if profile.count % 2 != 0 { profile.append(0) }
        var options = RegionOptions()
        options.tileSize = 64
        let coders = ImageCodersManager(coders: [TIFFCoder()])
        let reader = try await coders.regionReader(for: pyramid(profile), options: options)
        #expect(reader.levels.count == 2)
        let rect = ImageRect(x: 8, y: 8, width: 4, height: 4)
        let pixels = try await reader.read(rect, level: 0).bitmap.pixels
        #expect(Array(pixels.prefix(3)) != [200, 30, 60])
        #expect(try await reader.read(rect, level: 1).bitmap.pixels == pixels)
    }
}
