import CHEIF
import CPixels
import FoundationEssentials
import WebImageCodecs

/// Reads the rows of a decoded image from RGB planes. If libheif interleaved them, it would hold the whole image two or three times.
final class HEIFRows: ScanlineSource {
    private struct Plane {
        let base: UnsafePointer<UInt8>
        let bytesPerRow: Int
        let bits: Int
    }

    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let image: DecodedImage
    /// The planes of red, green, blue, and alpha if there is any.
    private let planes: [Plane]
    /// The largest sample value.
    private let most: UInt32
    private let hasAlpha: Bool
    private let isPremultiplied: Bool
    /// A row of decoded samples, if they are converted.
    private let interleaved: ScratchBuffer?
    private let interleavedByteCount: Int
    private var nextRow = 0

    /// Decodes the image.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    init(_ file: HEIFFile, options: ImageDecodeOptions) throws(WebImageError) {
        let properties = file.properties
        width = properties.width
        height = properties.height
        hasAlpha = properties.hasAlpha
        isPremultiplied = file.isPremultiplied
        let needsHighBitDepth =
            file.color.needsHighBitDepthRows(bitsPerComponent: properties.bitsPerComponent) && file.colorProfile == nil
        if needsHighBitDepth || options.keepsHighBitDepth && properties.isHighBitDepth {
            layout = .rgbaFloat
        } else {
            layout = hasAlpha ? .rgba8 : .rgb8
        }
        color = file.color
        colorProfile = file.colorProfile ?? (layout == .rgbaFloat ? nil : file.color.makeProfile())
        try options.limits.check(decodedByteCount: file.planeByteCount)
        let image = try file.decode()
        do throws(WebImageError) {
            planes = try Self.planes(of: image, hasAlpha: hasAlpha, width: width, height: height)
            let bits = planes[0].bits
            most = bits > 8 ? UInt32(1) << UInt32(min(bits, 16)) - 1 : 255
            let isConverted = bits > 8 || layout == .rgbaFloat
            interleavedByteCount = isConverted ? width * planes.count * (bits > 8 ? 2 : 1) : 0
            interleaved = try isConverted ? ScratchBuffer(byteCount: interleavedByteCount) : nil
        } catch {
            heif_image_release(image)
            throw error
        }
        self.image = DecodedImage(image)
    }

    private init(_ other: HEIFRows, from row: Int) throws(WebImageError) {
        (width, height, layout) = (other.width, other.height, other.layout)
        (colorProfile, color, image, planes) = (other.colorProfile, other.color, other.image, other.planes)
        (most, hasAlpha, isPremultiplied) = (other.most, other.hasAlpha, other.isPremultiplied)
        interleavedByteCount = other.interleavedByteCount
        interleaved = try other.interleaved == nil ? nil : ScratchBuffer(byteCount: interleavedByteCount)
        nextRow = row
    }

    var isRandomAccess: Bool { true }
    func source(from row: Int) throws(WebImageError) -> any ScanlineSource { try HEIFRows(self, from: row) }

    /// Owns an image, whose planes several sources may read.
    private final class DecodedImage {
        private let image: OpaquePointer

        init(_ image: OpaquePointer) { self.image = image }

        deinit { heif_image_release(image) }
    }

    /// - Throws: ``WebImageError/Code/badImageData`` if the planes differ from the boxes, for which the decode was planned.
    private static func planes(
        of image: OpaquePointer,
        hasAlpha: Bool,
        width: Int,
        height: Int
    ) throws(WebImageError) -> [Plane] {
        let channels = [heif_channel_R, heif_channel_G, heif_channel_B] + (hasAlpha ? [heif_channel_Alpha] : [])
        var planes: [Plane] = []
        for channel in channels {
            var stride: Int32 = 0
            let bits = Int(heif_image_get_bits_per_pixel_range(image, channel))
            guard let base = heif_image_get_plane_readonly(image, channel, &stride),
                Int(heif_image_get_width(image, channel)) == width,
                Int(heif_image_get_height(image, channel)) == height,
                Int(stride) >= width * (bits > 8 ? 2 : 1)
            else { throw WebImageError(.badImageData, "HEIF: the image's size differs from the size in the boxes") }
            guard bits <= 16, bits == planes.first?.bits ?? bits else {
                throw WebImageError(.badImageData, "HEIF: alpha and colours have different bit depths")
            }
            planes.append(Plane(base: base, bytesPerRow: Int(stride), bits: bits))
        }
        return planes
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        for row in 0..<count {
            let target = base + row * bytesPerRow
            let samples = interleaved?.base ?? target
            interleave(nextRow + row, into: samples)
            if layout == .rgbaFloat {
                handFloats(samples, target.assumingMemoryBound(to: Float.self))
            } else {
                handBytes(samples, target.assumingMemoryBound(to: UInt8.self))
            }
        }
        nextRow += count
    }

    private func interleave(_ row: Int, into samples: UnsafeMutableRawPointer) {
        if most > 255 {
            func plane(_ index: Int) -> UnsafePointer<UInt16> {
                start(of: row, index).assumingMemoryBound(to: UInt16.self)
            }
            let target = samples.assumingMemoryBound(to: UInt16.self)
            if hasAlpha {
                cpixels_short_planes_to_rgba(plane(0), plane(1), plane(2), plane(3), target, width)
            } else {
                cpixels_short_planes_to_rgb(plane(0), plane(1), plane(2), target, width)
            }
        } else {
            func plane(_ index: Int) -> UnsafePointer<UInt8> {
                start(of: row, index).assumingMemoryBound(to: UInt8.self)
            }
            let target = samples.assumingMemoryBound(to: UInt8.self)
            if hasAlpha {
                cpixels_planes_to_rgba(plane(0), plane(1), plane(2), plane(3), target, width)
            } else {
                cpixels_planes_to_rgb(plane(0), plane(1), plane(2), target, width)
            }
        }
    }

    private func start(of row: Int, _ plane: Int) -> UnsafeRawPointer {
        UnsafeRawPointer(planes[plane].base + row * planes[plane].bytesPerRow)
    }

    /// Converts a row to bytes; rows of 8 bits are already in place.
    private func handBytes(_ samples: UnsafeRawPointer, _ row: UnsafeMutablePointer<UInt8>) {
        if most > 255 {
            let shorts = samples.assumingMemoryBound(to: UInt16.self)
            cpixels_shorts_to_levels(shorts, row, width * planes.count, most)
        }
        // The function does not depend on the order of the colours.
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
