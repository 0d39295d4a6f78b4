import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct RemovingCodersTests {
    @Test func `A removed coder is not used any more`() throws {
        let (first, second) = (PlainCoder(), PlainCoder())
        let manager = ImageCodersManager(coders: [first, second])
        manager.remove(second)
        _ = try manager.decode(Data("a".utf8), options: ImageDecodeOptions())
        #expect(first.decodes.count == 1 && second.decodes.isEmpty)
        manager.remove(first)
        #expect(manager.coders.isEmpty && !manager.canDecode(Data("a".utf8)))
    }

    @Test func `Built-in coders are removed by their type, and others stay`() throws {
        let manager = ImageCodersManager()
        manager.remove(PNGCoder())
        let png = try Fixtures.data("PNG/photo-rgb.png")
        let error = #expect(throws: WebImageError.self) { try manager.decode(png, options: ImageDecodeOptions()) }
        #expect(error?.code == .unsupportedFormat)
        #expect(!manager.canEncode(to: .png) && manager.canEncode(to: .jpeg))
        #expect(manager.coders.count == ImageCodersManager.builtIn.count - 1)
    }

    @Test func `Removing an absent coder removes nothing`() {
        let manager = ImageCodersManager()
        manager.remove(PlainCoder())
        #expect(manager.coders.count == ImageCodersManager.builtIn.count)
    }
}
