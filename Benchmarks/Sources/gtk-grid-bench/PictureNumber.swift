import CBenchGTK
import WebImage

/// The number of a picture: three digits, of which each is the brightness of a colour in the picture's middle.
@MainActor
enum PictureNumber {
    static func of(_ image: Image) -> Int? {
        let bitmap = image.bitmap
        let (x, y) = (bitmap.width / 2, bitmap.height / 2)
        return bitmap.withUnsafeBytes { bytes -> Int? in
            switch bitmap.pixelFormat {
            case .rgb8:
                let pixel = y * bitmap.bytesPerRow + x * 3
                return number(bytes[pixel], bytes[pixel + 1], bytes[pixel + 2])
            case .bgra8Premultiplied:
                let pixel = y * bitmap.bytesPerRow + x * 4
                return number(bytes[pixel + 2], bytes[pixel + 1], bytes[pixel])
            default: return nil
            }
        }
    }

    static func of(texture: OpaquePointer) -> Int? {
        let (width, height) = (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
        let pixel = (height / 2 * width + width / 2) * 4
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * height * 4) { bytes in
            gdk_texture_download(texture, bytes.baseAddress, gsize(width * 4))
            return number(bytes[pixel + 2], bytes[pixel + 1], bytes[pixel])
        }
    }

    private static func number(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        digit(red) + 10 * digit(green) + 100 * digit(blue)
    }

    /// 25 apart, the lowest at 12.
    private static func digit(_ value: UInt8) -> Int { Int(value) / 25 }
}
