import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct PNGDamageTests {
    private let coder = PNGCoder()

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    /// The offset of the length of a kind's first chunk.
    private func chunk(_ kind: String, in data: Data) throws -> Int {
        try #require(data.firstRange(of: Data(kind.utf8))).lowerBound - 4
    }

    @Test(arguments: ["photo-rgb", "type3-4bit-trns-interlaced", "type6-16bit-interlaced", "animated"])
    func `Every truncation before the end of the pixels is an error`(name: String) throws {
        let data = try Fixtures.data("PNG/\(name).png")
        let after = name == "animated" ? "fcTL" : "IEND"
        let ends = data.ranges(of: Data(after.utf8)).map(\.lowerBound)
        let end = try (name == "animated" ? #require(ends.dropFirst().first) : #require(ends.last)) - 4
        for length in TestEffort.some(of: 0..<end) {
            #expect(error(data.prefix(length))?.code == .badImageData, "\(length) of \(data.count)")
        }
        for length in end...data.count { #expect(error(data.prefix(length)) == nil) }
    }

    @Test func `A wrong checksum is an error in a critical chunk and not in others`() throws {
        let original = try Fixtures.data("PNG/type3-8bit-trns.png")
        for kind in ["IHDR", "PLTE", "IDAT"] {
            var data = original
            let start = try chunk(kind, in: data)
            let length = Int(data[start + 2]) << 8 | Int(data[start + 3])
            data[start + 8 + length] ^= 1
            #expect(error(data)?.code == .badImageData, "\(kind)")
        }
        var data = try Fixtures.data("PNG/gamma-1.0.png")
        data[try chunk("gAMA", in: data) + 12] ^= 1
        #expect(error(data) == nil)
    }

    @Test func `Damaged pixels with a correct checksum are an error`() throws {
        var data = try Fixtures.data("PNG/photo-rgb.png")
        let start = try chunk("IDAT", in: data)
        let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        for offset in 200..<260 { data[start + 8 + offset] ^= 0x5A }
        let checksum = CRC32.of(data[start + 4..<start + 8 + length])
        for index in 0..<4 {
            data[start + 8 + length + index] = UInt8(truncatingIfNeeded: checksum >> (24 - 8 * index))
        }
        #expect(error(data)?.code == .badImageData)
    }

    @Test(arguments: ["photo-rgb", "type3-8bit"])
    func `A wrong checksum only of the compressed stream is an error`(name: String) throws {
        var data = try Fixtures.data("PNG/\(name).png")
        // The last four bytes of the last IDAT chunk that is not empty.
        let end = try #require(data.lastRange(of: Data("IEND".utf8))).lowerBound - 4 - 4
        let last = name == "photo-rgb" ? end - 1 : end - 12 - 1
        data[last] ^= 0xFF
        #expect(error(CRC32.repairingPNG(data))?.code == .badImageData)
    }

    @Test(arguments: ["photo-rgba", "type3-4bit-trns-interlaced", "icc-wide", "animated", "big-compressed-text"])
    func `Random damage never traps`(name: String) throws {
        let original = try Fixtures.data("PNG/\(name).png")
        var random = SeededGenerator(seed: 42)
        for _ in 0..<150 {
            var data = original
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                data[Int.random(in: 8..<data.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            // Most damage is detected at once by a checksum; with correct checksums more of the decoder is reached.
            let repaired = CRC32.repairingPNG(data)
            for data in [data, repaired] {
                var options = ImageDecodeOptions()
                options.limits.maximumPixelCount = 1 << 20
                _ = try? coder.decode(data, options: options)
                _ = try? coder.properties(of: data, limits: options.limits)
            }
        }
    }

    @Test func `An image of 30000 by 30000 pixels is refused before memory is allocated`() throws {
        var data = try Fixtures.data("PNG/type0-1bit.png")
        for (offset, byte) in [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30].enumerated() { data[16 + offset] = UInt8(byte) }
        data = CRC32.repairingPNG(data)
        #expect(error(data)?.limit?.name == "maximumPixelCount")
        #expect(error(data)?.limit?.required == 900_000_000)
        #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: ImageLimits()) }
    }

    @Test func `Sides of 0 and of 4 billion are errors`() throws {
        for bytes: [UInt8] in [
            [0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 9, 0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 9],
        ] {
            var data = try Fixtures.data("PNG/type0-1bit.png")
            data.replaceSubrange(16..<24, with: bytes)
            #expect(error(CRC32.repairingPNG(data)) != nil)
        }
    }

    @Test func `An interlaced image is refused when the whole of it is above the limit`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 4, height: 4)
        options.limits.maximumDecodedByteCount = 400
        #expect(error(try Fixtures.data("PNG/type2-8bit.png"), options) == nil)
        let refused = error(try Fixtures.data("PNG/type2-8bit-interlaced.png"), options)
        #expect(refused?.limit?.name == "maximumDecodedByteCount")
    }

    @Test func `Too many frames are refused unless only the first is requested`() throws {
        let data = try Fixtures.data("PNG/animated.png")
        var options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 2
        #expect(error(data, options)?.limit?.name == "maximumFrameCount")
        #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: options.limits) }
        options.decodeFirstFrameOnly = true
        #expect(error(data, options) == nil)
    }
}
