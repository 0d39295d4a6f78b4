import CJPEGXL
import CPixels
import FoundationEssentials
import WebImageCodecs

/// The pixel format that is requested from libjxl.
struct JPEGXLPixels: Sendable {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let isGray: Bool
    let isPremultiplied: Bool
    /// A Boolean value that indicates whether libjxl converts XYB to sRGB, because a profile defines the file's own colours.
    let asksForSRGB: Bool
    let color: SourceColor?

    /// - Throws: ``WebImageError/Code/limitExceeded`` for an image whose decode needs too much memory.
    init(_ header: JPEGXLHeader, options: ImageDecodeOptions) throws(WebImageError) {
        try options.limits.check(decodedByteCount: header.workByteCount)
        let properties = header.properties
        width = properties.width
        height = properties.height
        isGray = header.isGray
        isPremultiplied = header.isPremultiplied
        asksForSRGB = !header.usesOriginalColors && header.color == nil
        color = header.color
        // Grey by code points is decoded as RGB, for which there is a profile; grey by a grey profile stays as it is.
        let isPlainGray = header.isGray && (header.color == nil || header.color?.isSRGB == true)
        let needsHighBitDepth =
            header.color?.needsHighBitDepthRows(bitsPerComponent: properties.bitsPerComponent) == true
        if needsHighBitDepth || options.keepsHighBitDepth && properties.isHighBitDepth {
            layout = .rgbaFloat
        } else if properties.hasAlpha {
            layout = .rgba8
        } else {
            layout = isPlainGray ? .gray8 : .rgb8
        }
    }

    /// Returns libjxl's form of this format, with rows that begin at multiples of `alignment` bytes.
    func format(alignment: Int) -> JxlPixelFormat {
        let channels: UInt32 =
            switch layout {
            case .gray8: 1
            case .rgb8: 3
            default: 4
            }
        return JxlPixelFormat(
            num_channels: channels,
            data_type: layout == .rgbaFloat ? JXL_TYPE_FLOAT : JXL_TYPE_UINT8,
            endianness: JXL_NATIVE_ENDIAN,
            align: alignment
        )
    }

    var bytesPerRow: Int { width * layout.bytesPerPixel }

    /// Unpremultiplies a row that libjxl has premultiplied.
    func straighten(_ row: UnsafeMutableRawPointer) {
        if layout == .rgbaFloat {
            cpixels_unpremultiply_floats(row.assumingMemoryBound(to: Float.self), width)
        } else {
            // The function does not depend on the order of the colours.
            let bytes = row.assumingMemoryBound(to: UInt8.self)
            cpixels_unpremultiply_bgra_to_bgra(bytes, bytes, width)
        }
    }
}
