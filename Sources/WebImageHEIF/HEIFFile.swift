import CHEIF
import FoundationEssentials
import WebImageCodecs

/// An opened HEIF file and its primary image. For one thread; the bytes must stay at their address as long as it lives.
final class HEIFFile {
    private let context: OpaquePointer
    private let handle: OpaquePointer
    let limits: ImageLimits
    private let images: HEIFImages
    let properties: ImageProperties
    let isPremultiplied: Bool
    /// The ICC profile, unless code points have precedence.
    let colorProfile: Data?
    let color: SourceColor

    /// Reads the boxes.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    init(_ bytes: UnsafeRawBufferPointer, limits: ImageLimits) throws(WebImageError) {
        _ = HEIFLibrary.isReady
        images = try HEIFImages(bytes, limits)
        guard let context = heif_context_alloc() else {
            throw WebImageError(.outOfMemory, "no memory to decode HEIF")
        }
        do throws(WebImageError) {
            let handle = try Self.open(bytes, context, limits)
            self.handle = handle
            color = Self.color(handle)
            colorProfile = color.isHighDynamicRange ? nil : Self.profile(handle, limits)
            isPremultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0
            do throws(WebImageError) {
                properties = try Self.properties(bytes, handle, color, colorProfile, limits)
            } catch {
                heif_image_handle_release(handle)
                throw error
            }
        } catch {
            heif_context_free(context)
            throw error
        }
        self.context = context
        self.limits = limits
        // A grid repeats its size in data that only libheif reads; it must not be larger than in the boxes. The sides of the stored and the upright
        // image may be swapped.
        let width = max(properties.width, Int(heif_image_handle_get_ispe_width(handle)))
        let height = max(properties.height, Int(heif_image_handle_get_ispe_height(handle)))
        Self.limit(context, width: width, height: height, limits)
    }

    deinit {
        heif_image_handle_release(handle)
        heif_context_free(context)
    }

    /// Checks the memory of a decode against the limits.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/badImageData``.
    func checkBeforeDecoding() throws(WebImageError) {
        // The stored size, of which a crop may leave little.
        let width = Int(heif_image_handle_get_ispe_width(handle))
        let height = Int(heif_image_handle_get_ispe_height(handle))
        let (count, overflow) = max(width, 1).multipliedReportingOverflow(by: max(height, 1))
        try images.check(
            pixelCount: overflow || count > .max / 16 ? .max / 16 : count,
            hasAlpha: properties.hasAlpha,
            limits
        )
        try limits.check(decodedByteCount: imageByteCount)
    }

    /// Decodes the image to planes of red, green and blue, and alpha if there is any. The caller releases them.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func decode() throws(WebImageError) -> OpaquePointer {
        try checkBeforeDecoding()
        let (image, result) = CodingQueue.withThreads(forPixelCount: threadedPixelCount, upTo: mostThreads) { count in
            var image: OpaquePointer?
            let (ofTiles, ofCodec) = images.isDerived ? (count, 1) : (1, count)
            let result = webimage_heif_decode(context, handle, Int32(ofTiles), Int32(ofCodec), &image)
            return (image, result)
        }
        try HEIFLibrary.check(result)
        guard let image else { throw WebImageError(.badImageData, "HEIF: the file has no image") }
        return image
    }

    /// The number of pixels if libheif or the codec can decode parts of the image at the same time; else 0.
    private var threadedPixelCount: Int {
        let isThreaded = images.isDerived || images.isHEVC && webimage_heif_has_codec_threads()
        return isThreaded ? properties.width * properties.height : 0
    }

    /// The number of threads whose memory fits into the limit together.
    private var mostThreads: Int {
        1 + max(limits.maximumDecodedByteCount - imageByteCount, 0) / max(threadByteCount, 1)
    }

    /// The number of bytes that each further thread needs: for a tile, or to decode rows of blocks of the same image.
    private var threadByteCount: Int {
        images.isDerived ? images.tileByteCount(hasAlpha: properties.hasAlpha, isDeep: isDeep) : 1 << 17
    }

    /// The peak number of bytes that libheif and the codec need.
    var memoryNeed: Int {
        let extra = min(CodingQueue.mostThreads(forPixelCount: threadedPixelCount), mostThreads) - 1
        return imageByteCount + (1 << 20) + extra * threadByteCount
    }

    /// The part of that memory which depends on the image's size. Its source images, and its alpha, may be larger than the image.
    private var imageByteCount: Int {
        // The sides may be swapped in one of both.
        let stored = Int(heif_image_handle_get_ispe_width(handle)) * Int(heif_image_handle_get_ispe_height(handle))
        return images.byteCount(
            pixelCount: max(stored, properties.width * properties.height),
            hasAlpha: properties.hasAlpha,
            isDeep: isDeep
        )
    }

    private var isDeep: Bool { properties.bitsPerComponent > 8 }

    /// The number of bytes of the planes that libheif produces and from which rows are read.
    var planeByteCount: Int {
        properties.width * properties.height * (properties.hasAlpha ? 4 : 3) * (properties.bitsPerComponent > 8 ? 2 : 1)
    }

    private static func open(
        _ bytes: UnsafeRawBufferPointer,
        _ context: OpaquePointer,
        _ limits: ImageLimits
    ) throws(WebImageError) -> OpaquePointer {
        // For each image by its boxes; lower once the image to decode is known.
        let side = min(max(limits.maximumSideLength, 0), 65_536)
        limit(context, width: side, height: side, limits)
        try HEIFLibrary.check(
            heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil)
        )
        var handle: OpaquePointer?
        try HEIFLibrary.check(heif_context_get_primary_image_handle(context, &handle))
        guard let handle else { throw WebImageError(.badImageData, "HEIF: the file has no image") }
        return handle
    }

    private static func limit(_ context: OpaquePointer, width: Int, height: Int, _ limits: ImageLimits) {
        webimage_heif_limit(
            context,
            UInt32(clamping: width),
            UInt32(clamping: height),
            UInt64(clamping: limits.maximumPixelCount)
        )
    }

    private static func color(_ handle: OpaquePointer) -> SourceColor {
        var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
        let result = heif_image_handle_get_nclx_color_profile(handle, &profile)
        guard result.code == heif_error_Ok, let profile else {
            return SourceColor(primaries: 2, transferCharacteristics: 2)
        }
        defer { heif_nclx_color_profile_free(profile) }
        return SourceColor(
            primaries: Int(profile.pointee.color_primaries.rawValue),
            transferCharacteristics: Int(profile.pointee.transfer_characteristics.rawValue)
        )
    }

    private static func profile(_ handle: OpaquePointer, _ limits: ImageLimits) -> Data? {
        let count = heif_image_handle_get_raw_color_profile_size(handle)
        guard count > 0, count <= limits.maximumColorProfileByteCount else { return nil }
        var data = Data(count: count)
        let result = data.withUnsafeMutableBytes { heif_image_handle_get_raw_color_profile(handle, $0.baseAddress) }
        return result.code == heif_error_Ok ? data : nil
    }

    private static func properties(
        _ bytes: UnsafeRawBufferPointer,
        _ handle: OpaquePointer,
        _ color: SourceColor,
        _ profile: Data?,
        _ limits: ImageLimits
    ) throws(WebImageError) -> ImageProperties {
        let format = ImageFormat(detecting: bytes)
        let width = Int(heif_image_handle_get_width(handle))
        let height = Int(heif_image_handle_get_height(handle))
        try limits.check(width: width, height: height)
        // The stored size, of which a crop may leave little.
        try limits.check(
            width: Int(heif_image_handle_get_ispe_width(handle)),
            height: Int(heif_image_handle_get_ispe_height(handle))
        )
        var properties = ImageProperties(format: format, width: width, height: height)
        properties.hasAlpha = heif_image_handle_has_alpha_channel(handle) != 0
        properties.bitsPerComponent = max(Int(heif_image_handle_get_luma_bits_per_pixel(handle)), 8)
        properties.isHighDynamicRange = color.isHighDynamicRange
        properties.colorProfile =
            profile.map { ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount) } ?? color.name
        return properties
    }
}
