import Testing
import WebImage

@testable import WebImageServer

@Suite struct VariantOptionsTests {
    @Test func `Options without effect on the bytes are not in the canonical form`() {
        var options = VariantOptions()
        options.expires = 1
        options.filename = "a"
        options.returnAttachment = true
        options.maxAge = 5
        options.extend.gravity = VariantGravity(.south)
        options.trim.equalVertical = true
        options.watermark.widthScale = 0.5
        options.pixelate = 1
        #expect(options.canonical == VariantOptions())
        options.cacheBuster = "1"
        #expect(options.canonical != VariantOptions())
    }

    @Test func `The qualities of formats do not count beside a quality`() {
        var options = VariantOptions()
        options.formatQuality = [.webp: 50]
        let byFormat = options.canonical
        #expect(byFormat.formatQuality == [.webp: 50])
        options.quality = 80
        #expect(options.canonical.formatQuality.isEmpty)
    }

    @Test func `A message to the client has no characters of markup and a limited length`() {
        let error = ServerError.unknownOption("<b>\u{e9}" + String(repeating: "a", count: 1000))
        #expect(error.message.hasPrefix("Unknown option '?b???aaaa"))
        #expect(error.message.utf8.count < 100)
        #expect(error.status == 400)
    }
}
