import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ThumbHashTests {
    private static let names = Fixtures.names(in: "ThumbHash", ending: "txt")
    private static let exact = names.filter { !["soft-alpha", "large", "plain", "pixel"].contains($0) }

    private func image(_ name: String) throws -> Image {
        Image(bitmap: try Fixtures.pixels("ThumbHash/\(name).pam").bitmap())
    }

    private func reference(_ name: String) throws -> [UInt8] {
        let text = Array(
            String(decoding: try Fixtures.data("ThumbHash/\(name).txt"), as: UTF8.self).filter { $0 != "\n" }
        )
        return stride(from: 0, to: text.count, by: 2).compactMap { UInt8(String(text[$0...$0 + 1]), radix: 16) }
    }

    @Test func `All vectors were found`() { #expect(Self.names.count == 9) }

    @Test(arguments: exact)
    func `A hash equals the reference implementation's`(name: String) throws {
        #expect(try ThumbHash(image(name)).bytes == reference(name))
    }

    /// The waves in the reference's hash of it are rounding errors, made large.
    @Test func `A plain image has no waves`() throws {
        let found = try ThumbHash(image("plain")).bytes
        #expect(found.prefix(5).elementsEqual(try reference("plain").prefix(5)))
        #expect(found.dropFirst(5).allSatisfy { $0 == 0 })
    }

    /// Soft alpha was rounded when it was premultiplied, the large image was made smaller by another program, and a
    /// single pixel has waves that lie exactly between two steps.
    @Test(arguments: ["soft-alpha", "large", "pixel"])
    func `Each part of a hash is within one step of the reference`(name: String) throws {
        let found = try ThumbHash(image(name)).bytes
        let expected = try reference(name)
        #expect(found.count == expected.count)
        #expect(found.prefix(3).elementsEqual(expected.prefix(3)))
        for (a, b) in zip(found.dropFirst(6), expected.dropFirst(6)) {
            #expect(abs(Int(a & 15) - Int(b & 15)) <= 1 && abs(Int(a >> 4) - Int(b >> 4)) <= 1)
        }
    }

    @Test(arguments: names)
    func `The image of a hash equals the reference implementation's`(name: String) throws {
        let hash = try #require(ThumbHash(bytes: reference(name)))
        let shown = try Fixtures.pixels("ThumbHash/\(name)-shown.ppm")
        let found = try PixelDifference(hash.makeImage().bitmap, shown)
        #expect(found.maximum <= 1, "\(found)")
        #expect(hash.hasAlpha == name.hasSuffix("alpha"))
        let ratio = Double(shown.width) / Double(shown.height)
        #expect(abs(hash.approximateAspectRatio / ratio - 1) < 0.1)
    }

    @Test func `Base64 is encoded and decoded`() throws {
        let hash = try ThumbHash(image("landscape"))
        #expect(ThumbHash(base64: hash.base64) == hash)
        #expect(hash.description == hash.base64)
        #expect(ThumbHash(base64: "no base64!") == nil)
        #expect(ThumbHash(base64: String(repeating: "A", count: 4000)) == nil)
    }

    @Test func `Too few bytes are not a hash, and surplus bytes are cut off`() throws {
        for name in Self.names {
            let bytes = try reference(name)
            for count in 0..<bytes.count { #expect(ThumbHash(bytes: bytes.prefix(count)) == nil) }
            #expect(ThumbHash(bytes: bytes + [1, 2, 3])?.bytes == bytes)
        }
    }

    @Test func `Any bytes make an image or nil`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            guard let hash = ThumbHash(bytes: bytes) else { continue }
            let image = try hash.makeImage()
            #expect(max(image.pixelWidth, image.pixelHeight) == 32)
            #expect((0...1).contains(hash.averageColor.red))
        }
    }

    @Test func `The mean colour is that of the image`() throws {
        let color = try ThumbHash(image("plain")).averageColor
        #expect(abs(color.red - 200 / 255) < 0.03 && abs(color.green - 30 / 255) < 0.03)
        #expect(abs(color.blue - 90 / 255) < 0.03 && color.alpha == 1)
    }

    @Test func `The orientation of the image is applied first`() throws {
        let upright = try image("portrait")
        let stored = Image(bitmap: upright.bitmap, orientation: .right)
        let hash = try ThumbHash(stored)
        #expect(hash.approximateAspectRatio > 1)
        #expect(try ThumbHash(upright).approximateAspectRatio < 1)
    }

    @Test func `A transparent image is hashed`() throws {
        let bitmap = try Bitmap.allocate(width: 4, height: 4, pixelFormat: .bgra8Premultiplied)
        for row in 0..<4 { bitmap.mutableRow(row).initializeMemory(as: UInt8.self, repeating: 0, count: 16) }
        let hash = try ThumbHash(Image(bitmap: bitmap))
        #expect(hash.hasAlpha && hash.averageColor.alpha == 0)
    }

    @Test func `Invalid colours above their alpha do not trap`() throws {
        let bitmap = try Bitmap.allocate(width: 8, height: 8, pixelFormat: .bgra8Premultiplied)
        for y in 0..<8 {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<8 {
                // Straight alpha, as someone may pass by mistake.
                for channel in 0..<3 { row[x * 4 + channel] = (x + y + channel) % 2 == 0 ? 255 : 0 }
                row[x * 4 + 3] = x == y ? 1 : 0
            }
        }
        let hash = try ThumbHash(Image(bitmap: bitmap))
        #expect(hash.hasAlpha && ThumbHash(bytes: hash.bytes) == hash)
    }
}
