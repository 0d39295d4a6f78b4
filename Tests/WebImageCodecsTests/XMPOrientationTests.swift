import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Orientations given only by an XMP packet. The expected pixels are those of the files that have them in EXIF.
@Suite(.tags(.addressSanitizer)) struct XMPOrientationTests {
    private func read(_ text: String) -> ImageOrientation? {
        Array(text.utf8).withUnsafeBytes { XMPOrientation.read(packet: $0) }
    }

    private static func packet(_ value: Int, asElement: Bool) -> String {
        let head = "<?xpacket begin='\u{FEFF}'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
        let body =
            asElement
            ? "><rdf:Description><tiff:Orientation>\(value)</tiff:Orientation></rdf:Description>"
            : "><rdf:Description xmlns:tiff='http://ns.adobe.com/tiff/1.0/' tiff:Orientation=\"\(value)\"/>"
        return head + body + "</rdf:RDF></x:xmpmeta><?xpacket end='w'?>"
    }

    private func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Fixtures.data(name)) }

    private func find(_ text: [UInt8], in bytes: [UInt8]) throws -> Int {
        try #require(bytes.indices.first { bytes[$0...].starts(with: text) })
    }

    /// The chunks of a PNG file without its EXIF, and a packet before the pixels.
    private func png(_ name: String, _ packet: String) throws -> Data {
        let file = try bytes("PNG/\(name).png")
        var text = Array("iTXtXML:com.adobe.xmp".utf8)
        text += [0, 0, 0, 0, 0]
        text += Array(packet.utf8)
        var result = Array(file[..<33])
        result += bigEndian(text.count - 4, 4) + text
        result += bigEndian(Int(CRC32.of(text)), 4)
        var offset = 33
        while offset + 12 <= file.count {
            let end = offset + 12 + file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            if file[offset + 4..<offset + 8] != ArraySlice("eXIf".utf8) { result += file[offset..<end] }
            offset = end
        }
        return Data(result)
    }

    /// A JPEG file with a packet in place of its EXIF, or before it.
    private func jpeg(_ name: String, _ packet: String, keepsEXIF: Bool = false) throws -> Data {
        let file = try bytes("JPEG/\(name).jpg")
        let exif = try find([0xFF, 0xE1], in: file)
        let length = Int(file[exif + 2]) << 8 | Int(file[exif + 3])
        var text = Array("http://ns.adobe.com/xap/1.0/".utf8)
        text += [0]
        text += Array(packet.utf8)
        var result = Array(file[..<exif])
        result += [0xFF, 0xE1]
        result += bigEndian(text.count + 2, 2) + text
        result += file[(keepsEXIF ? exif : exif + 2 + length)...]
        return Data(result)
    }

    /// A WebP file whose EXIF chunk, at the end, is a packet.
    private func webp(_ name: String, _ packet: String) throws -> Data {
        let file = try bytes("WebP/\(name).webp")
        var text = Array(packet.utf8)
        if text.count % 2 == 1 { text.append(0x20) }
        var result = Array(file[..<(try find(Array("EXIF".utf8), in: file))])
        result += Array("XMP ".utf8)
        result += bigEndian(text.count, 4).reversed()
        result += text
        result.replaceSubrange(4..<8, with: bigEndian(result.count - 8, 4).reversed())
        #expect(result[12..<16] == ArraySlice("VP8X".utf8))
        result[20] = result[20] & ~0x08 | 0x04
        return Data(result)
    }

    @Test(arguments: 1...8, [false, true])
    func `An orientation only in XMP is applied`(number: Int, asElement: Bool) throws {
        let packet = Self.packet(number, asElement: asElement)
        let name = "orientation-\(number)"
        for (format, data) in try [
            ("PNG", png(name, packet)), ("JPEG", jpeg(name, packet)), ("WebP", webp(name, packet)),
        ] {
            let coder = ImageCodersManager()
            #expect(try coder.properties(of: data, limits: ImageLimits()).orientation.rawValue == number)
            let image = try coder.decode(data, options: ImageDecodeOptions())
            #expect(image.metadata.sourceOrientation.rawValue == number)
            let expected = "\(format)/\(name)." + (format == "JPEG" ? "ppm" : "pam")
            #expect(try PixelDifference(image.bitmap, Fixtures.pixels(expected)).maximum == 0, "\(expected)")
        }
    }

    @Test func `EXIF overrides XMP, whatever its value`() throws {
        let data = try jpeg("orientation-6", Self.packet(3, asElement: false), keepsEXIF: true)
        #expect(try JPEGCoder().properties(of: data, limits: ImageLimits()).orientation == .right)
        let upright = try jpeg("orientation-1", Self.packet(3, asElement: false), keepsEXIF: true)
        #expect(try JPEGCoder().properties(of: upright, limits: ImageLimits()).orientation == .up)
    }

    @Test(arguments: [ImageSize?.none, ImageSize(width: 9, height: 9)])
    func `While such an image arrives no preview has another orientation`(box: ImageSize?) throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = box
        let packet = Self.packet(6, asElement: true)
        for (data, coder) in try [
            (png("orientation-6", packet), PNGCoder()), (webp("orientation-6", packet), WebPCoder()),
            (jpeg("orientation-6", packet), JPEGCoder()),
        ] as [(Data, any ProgressiveImageCoder)] {
            let expected = try coder.decode(data, options: options)
            let decoder = coder.makeProgressiveDecoder(options: options)
            for length in stride(from: 0, through: data.count, by: 7) {
                try decoder.update(data.prefix(length), isFinished: false)
            }
            try decoder.update(data, isFinished: true)
            let image = try #require(try decoder.image(maximumPreviewPixelCount: .max))
            #expect(image.isSame(as: expected))
        }
    }

    @Test func `Attribute and element are read in every spelling, and invalid ones are ignored`() {
        #expect(read("tiff:Orientation=\"6\"") == .right && read("tiff:Orientation = '8'") == .left)
        #expect(read("<tiff:Orientation>\n 3 </tiff:Orientation>") == .down)
        #expect(read("tiff:Orientation tiff:Orientation=\"9\" tiff:Orientation=\"6\"") == .right)
        for text in [
            "", "tiff:Orientation", "tiff:Orientation=", "tiff:Orientation=\"", "tiff:Orientation=\"6",
            "tiff:Orientation=\"6'", "tiff:Orientation=\"0\"", "tiff:Orientation=\"16\"", "tiff:Orientation=6",
            "<tiff:Orientation>6", "<tiff:Orientation>66</tiff:Orientation>", "tiff:orientation=\"6\"",
            "exif:Orientation=\"6\"",
        ] { #expect(read(text) == nil, "\(text)") }
        #expect(read(String(repeating: "tiff:Orientation", count: 100_000)) == nil)
        #expect(read(String(repeating: " ", count: 1 << 20) + "tiff:Orientation=\"6\"") == nil, "too far behind")
    }
}
