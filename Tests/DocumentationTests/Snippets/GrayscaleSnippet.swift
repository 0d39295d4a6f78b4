import FoundationEssentials
import WebImage

// snippet: grayscale
struct Grayscale: ImageTransformer {
    let transformerKey = "Grayscale"

    func transform(_ image: Image) throws(WebImageError) -> Image {
        let bitmap = image.bitmap
        let byteCount = bitmap.bytesPerRow * bitmap.height
        let base = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        let pixels = UnsafeMutableRawBufferPointer(start: base, count: byteCount)
        bitmap.withUnsafeBytes { pixels.copyMemory(from: $0) }
        let step = bitmap.pixelFormat.bytesPerPixel
        let (red, blue) = bitmap.pixelFormat == .rgb8 ? (0, 2) : (2, 0)
        for row in 0..<bitmap.height {
            let start = row * bitmap.bytesPerRow
            for pixel in stride(from: start, to: start + bitmap.width * step, by: step) {
                let sum = 54 * Int(pixels[pixel + red]) + 183 * Int(pixels[pixel + 1]) + 19 * Int(pixels[pixel + blue])
                for component in 0..<3 { pixels[pixel + component] = UInt8(sum >> 8) }
            }
        }
        let storage = PixelStorage(adopting: base, byteCount: byteCount) { base, _ in base.deallocate() }
        let result = Bitmap(
            width: bitmap.width,
            height: bitmap.height,
            bytesPerRow: bitmap.bytesPerRow,
            pixelFormat: bitmap.pixelFormat,
            storage: storage
        )
        return Image(bitmap: result, scale: image.scale)
    }
}
// end
