import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHEIF

/// Images derived from others, or from themselves.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct HEIFReferenceTests {
    private func error(_ file: HEIFFileBuilder, limits: ImageLimits = .init()) -> WebImageError? {
        var options = ImageDecodeOptions()
        options.limits = limits
        do throws(WebImageError) {
            _ = try HEIFCoder().decode(file.file(), options: options)
            return nil
        } catch { return error }
    }

    /// Derived images in levels, with a coded one at the end.
    private func file(_ levels: [(type: String, parts: Int, data: [UInt8])], properties: [Int] = [4]) throws
        -> HEIFFileBuilder
    {
        var file = try HEIFFileBuilder()
        for (level, item) in levels.enumerated() {
            file.items.append((level + 1, item.type))
            file.references.append(("dimg", level + 1, [Int](repeating: level + 2, count: item.parts)))
            file.associations.append((level + 1, level == 0 ? properties : [3]))
            file.data.append((level + 1, item.data))
        }
        file.items.append((levels.count + 1, "hvc1"))
        file.associations.append((levels.count + 1, [1, levels.isEmpty ? 2 : 3]))
        file.data.append((levels.count + 1, file.picture))
        return file
    }

    @Test func `An image is decoded, by itself or as a tile`() throws {
        #expect(error(try file([])) == nil)
        var grid = try file([("grid", 4, HEIFFileBuilder.grid(2, 2, 640, 480))])
        grid.properties[3] = HEIFFileBuilder.size(640, 480)
        grid.associations[1].properties = [1, 2]
        let image = try HEIFCoder().decode(grid.file(), options: ImageDecodeOptions())
        #expect([image.pixelWidth, image.pixelHeight] == [640, 480])
        // A limit of the image's own pixels is enough.
        var limits = ImageLimits()
        limits.maximumPixelCount = 640 * 480
        #expect(error(grid, limits: limits) == nil)
    }

    @Test func `Images derived from themselves are refused`() throws {
        var overlay = try file([("iovl", 1, HEIFFileBuilder.overlay(320, 240, of: 1))], properties: [2])
        overlay.references[0].to = [1]
        #expect(error(overlay)?.code == .badImageData)
        var grid = try file([("grid", 1, HEIFFileBuilder.grid(1, 1, 320, 240))], properties: [2, 5])
        grid.references[0].to = [1]
        #expect(error(grid)?.code == .badImageData)
        // Each is the alpha of the other.
        var alpha = try file([])
        alpha.items.append((2, "hvc1"))
        alpha.associations = [(1, [1, 2, 6]), (2, [1, 2, 6])]
        alpha.data.append((2, alpha.picture))
        alpha.references = [("auxl", 1, [2]), ("auxl", 2, [1])]
        #expect(error(alpha)?.code == .badImageData)
    }

    @Test(arguments: ["grid", "iovl", "iden"])
    func `Images derived from items that are not images are refused`(type: String) throws {
        let data = ["grid": HEIFFileBuilder.grid(1, 1, 320, 240), "iovl": HEIFFileBuilder.overlay(320, 240, of: 1)]
        func derived() throws -> HEIFFileBuilder {
            var file = try file([(type, 1, data[type] ?? [0])], properties: type == "grid" ? [2, 5] : [2])
            file.associations[1].properties = [1, 2]
            return file
        }
        #expect(try derived().items[1].type == "hvc1" && error(derived()) == nil)
        var text = try derived()
        text.items[1].type = "mime"
        #expect(error(text)?.code == .badImageData)
        var missing = try derived()
        missing.references[0].to = [7]
        #expect(error(missing)?.code == .badImageData)
        // libheif uses the first of two.
        var twice = try derived()
        twice.items.insert((2, "mime"), at: 1)
        #expect(error(twice)?.code == .badImageData)
        var nested = try derived()
        nested.items.append((3, "iden"))
        nested.references[0].to = [3]
        nested.references.append(("dimg", 3, [9]))
        #expect(error(nested)?.code == .badImageData)
    }

    @Test func `A big tile referenced thousands of times is refused`() throws {
        let grid = try file([("grid", 10_000, HEIFFileBuilder.grid(100, 100, 1000, 1000))])
        var limits = ImageLimits()
        limits.maximumPixelCount = 1_000_000
        let limited = error(grid, limits: limits)
        #expect(limited?.limit?.name == "HEIF pixels to decode")
        #expect(limited?.limit?.allowed == 4_000_000 && limited?.limit?.required == 1_000_000 + 10_000 * 320 * 240)
        let overlay = try file([("iovl", 5000, HEIFFileBuilder.overlay(1000, 1000, of: 5000))])
        #expect(error(overlay, limits: limits)?.limit?.name == "HEIF pixels to decode")
    }

    @Test func `Nested grids are refused quickly`() throws {
        let tile = HEIFFileBuilder.grid(10, 10, 40, 40)
        let grids = try file([("grid", 100, tile), ("grid", 100, tile), ("grid", 100, tile)])
        #expect(error(grids)?.limit?.name == "HEIF pixels to decode")
        let deep = [(type: String, parts: Int, data: [UInt8])](
            repeating: ("iovl", 1, HEIFFileBuilder.overlay(4, 4, of: 1)),
            count: 20
        )
        #expect(error(try file(deep))?.code == .badImageData)
    }

    @Test func `Several images in the data of one count`() throws {
        var many = try file([])
        many.data[0].bytes = (0..<100).flatMap { _ in many.picture }
        var limits = ImageLimits()
        limits.maximumPixelCount = 320 * 240
        #expect(error(many, limits: limits)?.limit?.name == "HEIF pixels to decode")
        #expect(error(try file([]), limits: limits) == nil)
    }

    @Test func `Offsets with an unusual number size are refused`() throws {
        // libheif takes no byte for such a number, and finds an image.
        for sizes: [UInt8] in [[0x44, 0x02], [0x44, 0x04]] {
            var strange = try file([])
            strange.places = (version: 1, sizes: sizes, filler: 0)
            #expect(error(strange)?.code == .badImageData)
        }
        var usual = try file([])
        usual.places = (version: 1, sizes: [0x44, 0], filler: 0)
        #expect(error(usual) == nil)
    }

    @Test func `Images of thousands of sizes are refused`() throws {
        // A parameter set, whose size lies in bits that are the same for all.
        var file = try file([])
        let sets = (0..<2000).map { index -> [UInt8] in
            var bits = [Bool](repeating: false, count: 4) + [false, false, false, true]
            bits += [Bool](repeating: false, count: 96)
            func golomb(_ value: Int) {
                let width = Int.bitWidth - (value + 1).leadingZeroBitCount
                bits += [Bool](repeating: false, count: width - 1)
                bits += (0..<width).reversed().map { (value + 1) >> $0 & 1 == 1 }
            }
            for value in [0, 1, 1 + index % 50, 1 + index / 50] { golomb(value) }
            while bits.count % 8 != 0 { bits.append(true) }
            let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) { $0 << 1 | (bits[start + $1] ? 1 : 0) }
            }
            // No start codes in it.
            return bytes.reduce(into: [0x42, 1]) { unit, byte in
                if unit.suffix(2) == [0, 0], byte <= 3 { unit.append(3) }
                unit.append(byte)
            }
        }
        let record = [UInt8](repeating: 0, count: 22) + [1, 33] + HEIFFileBuilder.number(sets.count, 2)
        file.properties.append(
            HEIFFileBuilder.box("hvcC", record + sets.flatMap { HEIFFileBuilder.number($0.count, 2) + $0 })
        )
        let refused = error(file)
        #expect(refused?.message.contains("too many sizes") == true, "\(String(describing: refused))")
    }
}
