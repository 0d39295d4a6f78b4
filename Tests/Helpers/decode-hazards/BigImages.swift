import Glibc
import WebImage

@testable import WebImageIsolation

/// Honest images of 1000 x 1000 pixels, whose memory is announced to the parent before they are decoded.
enum BigImages {
    static var properties: ImageProperties {
        var properties = ImageProperties(format: .png, width: 1000, height: 1000)
        properties.hasAlpha = true
        return properties
    }

    /// Nil for other names.
    static func decode(_ name: String) throws(WebImageError) -> Image? {
        guard name.hasPrefix("big") else { return nil }
        let first = try filled(.bgra8Premultiplied, 1)
        guard SharedBuffers.inUse?.isAnnounced(first.storage) == true else { exit(45) }
        switch name {
        case "big": return image(first)
        case "big converted": return image(try filled(.rgb8, 2))
        case "big copied":
            kept = first
            return image(first)
        case "big refused": throw WebImageError(.badImageData, "the rest is missing")
        default: exit(46)
        }
    }

    /// Memory with another owner stays in the worker.
    nonisolated(unsafe) private static var kept: Bitmap?

    /// Each row begins with its number.
    private static func filled(_ format: PixelFormat, _ value: UInt8) throws(WebImageError) -> Bitmap {
        let bitmap = try Bitmap.allocate(width: 1000, height: 1000, pixelFormat: format)
        for row in 0..<1000 {
            memset(bitmap.mutableRow(row), Int32(value), bitmap.bytesPerRow)
            bitmap.mutableRow(row).storeBytes(of: UInt8(truncatingIfNeeded: row), as: UInt8.self)
        }
        return bitmap
    }

    private static func image(_ bitmap: Bitmap) -> Image {
        var metadata = ImageMetadata()
        (metadata.format, metadata.sourceWidth, metadata.sourceHeight) = (.png, 1000, 1000)
        return Image(bitmap: bitmap, metadata: metadata)
    }
}
