import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImageSVG
import WebImageTIFF

@Suite struct RegistrationTests {
    @Test func `Every format is registered once, however often it is asked for`() {
        let manager = ImageCodersManager()
        let before = manager.coders.count
        WebImageFormats.registerAll(in: manager)
        let after = manager.coders.count
        WebImageFormats.registerAll(in: manager)
        #expect(after == before + WebImageFormats.coders.count)
        #expect(manager.coders.count == after)
    }

    @Test func `Coders that were registered before stay where they are`() {
        let manager = ImageCodersManager(coders: [SVGCoder()])
        WebImageFormats.registerAll(in: manager)
        #expect(manager.coders.first is SVGCoder)
        #expect(manager.coders.count { $0 is SVGCoder } == 1)
        #expect(manager.coders.contains { $0 is TIFFCoder })
    }
}
