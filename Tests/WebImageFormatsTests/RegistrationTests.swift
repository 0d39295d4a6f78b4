import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImageSVG
import WebImageTIFF

@Suite(.tags(.addressSanitizer)) struct RegistrationTests {
    @Test func `Every format is registered once, however often it is requested`() {
        let manager = ImageCodersManager()
        let before = manager.coders.count
        WebImageFormats.registerAll(in: manager)
        let after = manager.coders.count
        WebImageFormats.registerAll(in: manager)
        #expect(after == before + WebImageFormats.coders.count)
        #expect(manager.coders.count == after)
    }

    @Test func `TIFF and SVG are decoded after the registration, BMP and ICO without it`() throws {
        let manager = ImageCodersManager()
        let documents = try [("TIFF", "tiff"), ("SVG", "svg")].map { folder, ending in
            let name = try #require(Fixtures.names(in: folder, ending: ending).first)
            return try Fixtures.data("\(folder)/\(name).\(ending)")
        }
        let bitmaps = try [("BMP", "bmp"), ("ICO", "ico")].map { folder, ending in
            let name = try #require(Fixtures.names(in: folder, ending: ending).first)
            return try Fixtures.data("\(folder)/\(name).\(ending)")
        }
        #expect(documents.allSatisfy { !manager.canDecode($0) } && bitmaps.allSatisfy { manager.canDecode($0) })
        #expect(!manager.canEncode(to: .tiff))
        WebImageFormats.registerAll(in: manager)
        #expect((documents + bitmaps).allSatisfy { manager.canDecode($0) })
        #expect(manager.canEncode(to: .tiff) && manager.canEncode(to: .bmp) && !manager.canEncode(to: .ico))
    }

    @Test func `Coders registered before stay in place`() {
        let isolated = IsolatedImageCoder(DecodeIsolation(formats: [.svg]), base: SVGCoder())
        for coder in [SVGCoder(), isolated] as [any ImageCoder] {
            let manager = ImageCodersManager(coders: [coder])
            WebImageFormats.registerAll(in: manager)
            #expect(type(of: manager.coders[0]) == type(of: coder))
            #expect(manager.coders.count == WebImageFormats.coders.count)
            #expect(manager.coders.contains { $0 is TIFFCoder })
        }
    }
}
