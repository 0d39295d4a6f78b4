import CPixels
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs

/// Conversions of numbers, each against its definition.
@Suite(.tags(.addressSanitizer)) struct PixelFormatTests {
    @Test func `Half floats are rounded to the nearest and even`() {
        let cases: [(Float, UInt16)] = [
            (0, 0), (-0.0, 0x8000), (1, 0x3C00), (-2, 0xC000), (65_504, 0x7BFF), (1e9, 0x7BFF), (-1e9, 0xFBFF),
            (.infinity, 0x7BFF), (.nan, 0), (5.960_464_5e-8, 1), (2.9e-8, 0), (6.103_515_6e-5, 0x0400),
            (1.000_488_3, 0x3C00), (1.001_464_8, 0x3C02), (0.333_333_34, 0x3555),
        ]
        for (value, bits) in cases {
            var half: UInt16 = 7
            cpixels_floats_to_halves([value], &half, 1)
            #expect(half == bits, "\(value)")
        }
    }

    @Test func `Every half float is converted back`() {
        let all = (0..<UInt16.max).filter { $0 & 0x7C00 != 0x7C00 }
        var floats = [Float](repeating: 0, count: all.count)
        cpixels_halves_to_floats(all, &floats, all.count)
        var back = [UInt16](repeating: 0, count: all.count)
        cpixels_floats_to_halves(floats, &back, all.count)
        #expect(back == all)
        #expect(floats[1] == 5.960_464_5e-8 && floats[0x3C00] == 1)
    }

    @Test func `Levels are rounded to the nearest`() {
        let values: [UInt16] = (0...1023).map { UInt16($0) }
        var levels = [UInt8](repeating: 0, count: 1024)
        cpixels_shorts_to_levels(values, &levels, 1024, 1023)
        for value in 0...1023 { #expect(Int(levels[value]) == Int((Double(value) * 255 / 1023).rounded())) }
        // Values above the maximum count as the maximum.
        cpixels_shorts_to_levels([5000], &levels, 1, 1023)
        #expect(levels[0] == 255)
    }

    @Test func `NaN does no harm`() throws {
        let color = SourceColor(primaries: 9, transferCharacteristics: 18)
        let converter = HighBitDepthConverter(color: color, profile: nil, limit: 0)
        var pixels: [Float] = [.nan, .infinity, -.infinity, .nan, -5, 1e30, 0.5, 2]
        var levels = [UInt8](repeating: 0, count: 8)
        converter.narrow(&pixels, to: &levels, count: 2)
        #expect(levels[3] == 0 && levels[7] == 255)
        pixels = [.nan, .infinity, -.infinity, .nan, -5, 1e30, 0.5, 2]
        converter.extend(&pixels, count: 2)
        cpixels_premultiply_floats(&pixels, 2)
        #expect(pixels[3] == 0 && pixels[7] == 1)
    }

    @Test func `8 bits survive half floats`() throws {
        for format in [PixelFormat.rgb8, .bgra8Premultiplied] {
            let bitmap = try Bitmap.allocate(width: 256, height: 2, pixelFormat: format)
            for y in 0..<2 {
                let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
                for x in 0..<256 {
                    let alpha = y == 0 ? 255 : x
                    let pixel = [x * alpha / 255, 0, (255 - x) * alpha / 255, alpha]
                    for channel in 0..<format.bytesPerPixel {
                        row[x * format.bytesPerPixel + channel] = UInt8(pixel[channel])
                    }
                }
            }
            let wide = try bitmap.converted(to: .rgbaHalfPremultiplied)
            let back = try wide.converted(to: .bgra8Premultiplied)
            #expect(back.components == bitmap.components)
            if format == .rgb8 { #expect(try wide.converted(to: .rgb8).components == bitmap.components) }
            #expect(try bitmap.converted(to: format).storage === bitmap.storage)
        }
    }

    @Test func `A plain colour of half floats is unchanged at every size`() throws {
        let source = try Bitmap.allocate(width: 33, height: 21, pixelFormat: .rgbaHalfPremultiplied)
        // One half in every component.
        for y in 0..<21 {
            source.mutableRow(y).initializeMemory(as: UInt16.self, repeating: 0x3800, count: 33 * 4)
        }
        for (width, height) in [(1, 1), (2, 40), (32, 20), (100, 3), (33, 1), (1, 500)] {
            for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
                let result = try Resampler.resize(source, width: width, height: height, quality: quality)
                #expect(result.pixelFormat == .rgbaHalfPremultiplied)
                for y in 0..<height {
                    for x in 0..<width {
                        #expect(result.halfComponents(x: x, y: y).allSatisfy { abs($0 - 0.5) < 0.0006 })
                    }
                }
            }
        }
    }

    @Test func `Dropping alpha composes with the background`() throws {
        let bitmap = try Bitmap.allocate(width: 1, height: 1, pixelFormat: .bgra8Premultiplied)
        bitmap.mutableRow(0).storeBytes(of: 0x8000_0000, as: UInt32.self)
        #expect(try bitmap.converted(to: .rgb8).components == [[127, 127, 127, 255]])
        let red = ImageColor(red: 1, green: 0, blue: 0)
        #expect(try bitmap.converted(to: .rgb8, background: red).components == [[127, 0, 0, 255]])
    }

    @Test func `White stays white and tone mapping never brightens`() {
        let tables = LightTables.shared.tables
        var last: UInt8 = 0
        for step in 0...2000 {
            let light = Float(step) / 100
            var level: [UInt8] = [0, 0, 0, 0]
            cpixels_light_to_levels([light, light, light, 1], &level, 1, true, tables)
            #expect(level[0] >= last && level[0] == level[1])
            last = level[0]
            var plain: [UInt8] = [0, 0, 0, 0]
            cpixels_light_to_levels([light, light, light, 1], &plain, 1, false, tables)
            #expect(level[0] <= plain[0])
            // Below the knee, at 88 cd/m², nothing changes.
            if light < 0.43 { #expect(level[0] == plain[0]) }
        }
        #expect(last == 255)
    }

    @Test func `Code points name colours`() {
        #expect(SourceColor(primaries: 1, transferCharacteristics: 13).isSRGB)
        #expect(SourceColor(primaries: 2, transferCharacteristics: 2).isSRGB)
        #expect(SourceColor(primaries: 1, transferCharacteristics: 1).isSRGB)
        #expect(SourceColor(primaries: 9, transferCharacteristics: 14).name == "BT.2020")
        #expect(SourceColor(primaries: 12, transferCharacteristics: 4).name == "Display P3 gamma 2.2")
        #expect(SourceColor(primaries: 9, transferCharacteristics: 16).makeProfile() == nil)
        let p3 = SourceColor(primaries: 12, transferCharacteristics: 13)
        #expect(p3.makeProfile() != nil && !p3.isHighDynamicRange)
        // The source's white maps to sRGB's white, whatever its white point.
        for primaries in [4, 5, 6, 8, 9, 11, 12, 22] {
            let matrix = SourceColor(primaries: primaries, transferCharacteristics: 8).matrixToSRGB
            for row in 0..<3 {
                let sum: Float = matrix[3 * row] + matrix[3 * row + 1] + matrix[3 * row + 2]
                #expect(abs(sum - 1) < 0.001, "\(primaries)")
            }
        }
        let senseless = SourceColor(transfer: .linear, chromaticities: [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(senseless.matrixToSRGB == [1, 0, 0, 0, 1, 0, 0, 0, 1])
        #expect(senseless.makeProfile() == nil || senseless.luminanceWeights.count == 3)
    }
}
