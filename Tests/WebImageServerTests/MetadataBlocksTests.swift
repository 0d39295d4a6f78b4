import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Damaged and hostile metadata.
@Suite struct MetadataBlocksTests {
    private static let size = PixelSize(20, 27)

    @Test(arguments: ["jpg", "png", "webp"])
    func `Damaged files and blocks are read without a trap`(format: String) throws {
        let file = Array(try Fixtures.data("Metadata/all.\(format)"))
        var random = SeededGenerator(seed: 7)
        for _ in 0..<TestEffort.rounds(300) {
            var bytes = file
            for _ in 0...random.below(6) {
                switch random.below(3) {
                case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                case 1: bytes.removeLast(random.below(bytes.count / 2))
                default: bytes[random.below(bytes.count)] = 0xFF
                }
            }
            guard let blocks = MetadataBlocks(of: Data(bytes)) else { continue }
            for kept in [KeptMetadata.all, .copyright] {
                let result = kept.blocks(of: blocks, size: Self.size, isUpright: true)
                for target in ["jpg", "png", "webp"] {
                    let plain = try Fixtures.data("Metadata/all.\(target)")
                    _ = try? result.inserted(into: plain)
                }
            }
        }
    }

    @Test func `A copyright is found in attributes, and nothing else`() throws {
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description rdf:about="" dc:rights='A > B' tiff:Make="X"
            xmpRights:Marked="True"><dc:title>T</dc:title><cc:license rdf:resource="u"/><dc:rights>R</dc:rights>
            </rdf:Description></rdf:RDF></x:xmpmeta>
            """
        let text = String(decoding: try #require(XMPPacket.copyright(of: Array(packet.utf8))), as: UTF8.self)
        #expect(text.contains(" dc:rights='A > B' xmpRights:Marked=\"True\">"))
        #expect(text.contains("<dc:rights>R</dc:rights>"))
        #expect(!text.contains("Make") && !text.contains("title"))
        #expect(XMPPacket.copyright(of: Array("<dc:title>T</dc:title>".utf8)) == nil)
        #expect(XMPPacket.copyright(of: Array("<dc:rights><dc:rights".utf8)) == nil)
    }

    @Test func `An EXIF block that is not a TIFF structure is dropped`() {
        #expect(EXIFBlock([]) == nil)
        #expect(EXIFBlock(Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0]) == nil)
        #expect(EXIFBlock(Array("MM\0*".utf8) + [0xFF, 0xFF, 0xFF, 0xFF]) == nil)
    }

    @Test func `A block that is too long for a JPEG is an error`() throws {
        var blocks = MetadataBlocks()
        blocks.xmp = [UInt8](repeating: 32, count: 70_000)
        let jpeg = try Fixtures.data("Options/photo.jpg")
        #expect(throws: WebImageError.self) { try blocks.inserted(into: jpeg) }
        blocks = MetadataBlocks()
        blocks.resources = [UInt8](repeating: 1, count: 70_000)
        let data = try blocks.inserted(into: jpeg)
        #expect(MetadataBlocks(of: data)?.resources == blocks.resources)
    }
}
