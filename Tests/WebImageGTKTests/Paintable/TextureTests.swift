import CWebImageGTK4
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct TextureTests {
    private func download(_ texture: Texture) -> [UInt8] {
        let (width, height) = (
            Int(gdk_texture_get_width(texture.pointer)), Int(gdk_texture_get_height(texture.pointer))
        )
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        bytes.withUnsafeMutableBufferPointer { gdk_texture_download(texture.pointer, $0.baseAddress, gsize(width * 4)) }
        return bytes
    }

    @Test func `Pixels are those of the image, in every layout`() throws {
        try Display.open()
        let bgra = try Bitmap.make(3, 2) { x, y in [UInt8(x * 40), UInt8(y * 50), 7, 200] }
        #expect(try #require(Texture.of(Image(bitmap: bgra))).map(download) == bgra.pixels)
        let rgb = try Bitmap.allocate(width: 3, height: 2, pixelFormat: .rgb8)
        for y in 0..<2 {
            for x in 0..<9 { rgb.mutableRow(y).storeBytes(of: UInt8(x * 20 + y), toByteOffset: x, as: UInt8.self) }
        }
        #expect(try #require(Texture.of(Image(bitmap: rgb))).map(download) == rgb.pixels)
        let half = try bgra.converted(to: .rgbaHalfPremultiplied)
        #expect(try #require(Texture.of(Image(bitmap: half))).map(download) == bgra.pixels)
    }

    @Test func `An image that is not upright is rotated`() throws {
        try Display.open()
        let bitmap = try Bitmap.make(3, 2) { x, y in [UInt8(x), UInt8(y), 0, 255] }
        let texture = try #require(Texture.of(Image(bitmap: bitmap, orientation: .right)))
        #expect(gdk_texture_get_width(texture.pointer) == 2 && gdk_texture_get_height(texture.pointer) == 3)
        #expect(download(texture) == (try bitmap.upright(from: .right)).pixels)
    }

    @Test func `Views of one image share a texture, which lives as long as the image is shown and retains it`() throws {
        try Display.open()
        weak var kept: Image?
        do {
            let image = Image.tiny()
            kept = image
            let first = try #require(Texture.of(image))
            let second = try #require(Texture.of(image))
            #expect(first === second)
            #expect(Texture.of(Image.tiny()) !== first)
        }
        #expect(kept == nil)
    }

    @Test func `Pixels stay as long as GTK holds the texture`() throws {
        try Display.open()
        let isFree = Lock(false)
        var pointer: OpaquePointer?
        do {
            let texture = try #require(Texture.of(Image.tiny { isFree.withLock { $0 = true } }))
            pointer = texture.pointer
            g_object_ref(UnsafeMutableRawPointer(texture.pointer))
        }
        #expect(!isFree.withLock { $0 })
        if let pointer { g_object_unref(UnsafeMutableRawPointer(pointer)) }
        #expect(isFree.withLock { $0 })
    }
}

extension Texture {
    fileprivate func map<Result>(_ body: (Texture) -> Result) -> Result { body(self) }
}
