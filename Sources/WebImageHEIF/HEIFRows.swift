import CHEIF
import CPixels
import FoundationEssentials
import WebImage

/// The rows of a decoded picture.
final class HEIFRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let image: OpaquePointer
    private let plane: UnsafePointer<UInt8>
    private let bytesPerRow: Int
    /// The biggest number there is.
    private let most: UInt32
    private let hasAlpha: Bool
    private let isPremultiplied: Bool
    private var nextRow = 0

    /// Decodes.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    init(_ file: HEIFFile, options: ImageDecodeOptions) throws(WebImageError) {
        let properties = file.properties
        width = properties.width
        height = properties.height
        hasAlpha = properties.hasAlpha
        isPremultiplied = file.isPremultiplied
        let isDeep = properties.bitsPerComponent > 8
        let needsWide =
            file.color.needsWideRows(bitsPerComponent: properties.bitsPerComponent) && file.colorProfile == nil
        if needsWide || options.keepsWidePixels && properties.isWide {
            layout = .rgbaFloat
        } else {
            layout = hasAlpha ? .rgba8 : .rgb8
        }
        color = file.color
        colorProfile = file.colorProfile ?? (layout == .rgbaFloat ? nil : file.color.makeProfile())
        let channels = hasAlpha ? 4 : 3
        let bytesPerPixel = channels * (isDeep ? 2 : 1)
        try options.limits.check(decodedByteCount: width * height * bytesPerPixel)
        try file.checkBeforeDecoding()
        let image = try Self.decode(file.handle, isDeep: isDeep, hasAlpha: hasAlpha)
        var stride: Int32 = 0
        let plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride)
        // What was planned for is what the boxes said.
        guard let plane, Int(heif_image_get_width(image, heif_channel_interleaved)) == width,
            Int(heif_image_get_height(image, heif_channel_interleaved)) == height, Int(stride) >= width * bytesPerPixel
        else {
            heif_image_release(image)
            throw WebImageError(.badImageData, "HEIF: the picture has not the size that the file says")
        }
        self.image = image
        self.plane = plane
        bytesPerRow = Int(stride)
        let bits = heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved)
        most = isDeep ? UInt32(1) << UInt32(min(max(bits, 9), 16)) - 1 : 255
    }

    deinit { heif_image_release(image) }

    private static func decode(
        _ handle: OpaquePointer,
        isDeep: Bool,
        hasAlpha: Bool
    ) throws(WebImageError) -> OpaquePointer {
        let chroma =
            isDeep
            ? (hasAlpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE)
            : (hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB)
        var image: OpaquePointer?
        try HEIFLibrary.check(heif_decode_image(handle, &image, heif_colorspace_RGB, chroma, nil))
        guard let image else { throw WebImageError(.badImageData, "HEIF: the file has no picture") }
        return image
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows were asked for than the picture has")
        }
        for row in 0..<count {
            let source = UnsafeRawPointer(plane + (nextRow + row) * self.bytesPerRow)
            if layout == .rgbaFloat {
                handFloats(source, (base + row * bytesPerRow).assumingMemoryBound(to: Float.self))
            } else {
                handBytes(source, (base + row * bytesPerRow).assumingMemoryBound(to: UInt8.self))
            }
        }
        nextRow += count
    }

    private func handBytes(_ source: UnsafeRawPointer, _ row: UnsafeMutablePointer<UInt8>) {
        let samples = width * (hasAlpha ? 4 : 3)
        if most > 255 {
            cpixels_shorts_to_levels(source.assumingMemoryBound(to: UInt16.self), row, samples, most)
        } else {
            row.update(from: source.assumingMemoryBound(to: UInt8.self), count: samples)
        }
        // The order of the colours does not matter to it.
        if hasAlpha, isPremultiplied { cpixels_unpremultiply_bgra_to_bgra(row, row, width) }
    }

    private func handFloats(_ source: UnsafeRawPointer, _ row: UnsafeMutablePointer<Float>) {
        if most == 255 {
            let bytes = source.assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                for channel in 0..<3 { row[4 * x + channel] = Float(bytes[(hasAlpha ? 4 : 3) * x + channel]) / 255 }
                row[4 * x + 3] = hasAlpha ? Float(bytes[4 * x + 3]) / 255 : 1
            }
        } else {
            let shorts = source.assumingMemoryBound(to: UInt16.self)
            if hasAlpha {
                cpixels_shorts_to_floats(shorts, row, width * 4, Float(most))
            } else {
                cpixels_rgb_shorts_to_rgba_floats(shorts, row, width, Float(most))
            }
        }
        if hasAlpha, isPremultiplied { cpixels_unpremultiply_floats(row, width) }
    }
}
