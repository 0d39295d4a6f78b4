import CHEIF
public import FoundationEssentials
public import WebImageCodecs

extension HEIFCoder {
    /// Returns whether the format is HEIC and the installed libheif has an HEVC encoder (in Debian x265, a separate package in later versions).
    public func canEncode(to format: ImageFormat) -> Bool {
        HEIFLibrary.isReady && format == .heic && heif_have_encoder_for_format(heif_compression_HEVC) != 0
    }

    /// Encodes a still image of 8 bits, by ``ImageEncodeOptions/compressionQuality`` or lossless; alpha is kept, and the orientation is applied to
    /// the pixels. Of an animation only the image's own pixels are written.
    ///
    /// From a quality of 0.9 on chroma is stored at full resolution, below at half. With ``ImageEncodeOptions/encodeEmbedThumbnail`` a second, small
    /// image is written as the thumbnail of the first, if that is larger.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded`` when the file cannot
    ///   be made small enough, ``WebImageError/Code/unsupportedFormat`` for another format, or without an encoder.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard canEncode(to: format) else {
            throw WebImageError(.unsupportedFormat, "the HEIF coder does not write \(format)")
        }
        let rows = try EncodableRows(image, options: options)
        return try options.withinFileSize(isLossless: options.isLossless) { (options) throws(WebImageError) in
            try Self.encode(rows, options)
        }
    }

    private static func encode(_ rows: EncodableRows, _ options: ImageEncodeOptions) throws(WebImageError) -> Data {
        guard let context = heif_context_alloc() else { throw WebImageError(.outOfMemory, "no memory to encode HEIF") }
        defer { heif_context_free(context) }
        let encoder = try encoder(context, options)
        defer { heif_encoder_release(encoder) }
        let image = try makeImage(of: rows)
        defer { heif_image_release(image) }
        guard let settings = heif_encoding_options_alloc(), let profile = heif_nclx_color_profile_alloc() else {
            throw WebImageError(.outOfMemory, "no memory to encode HEIF")
        }
        defer {
            heif_encoding_options_free(settings)
            heif_nclx_color_profile_free(profile)
        }
        profile.pointee.color_primaries = heif_color_primaries_ITU_R_BT_709_5
        profile.pointee.transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1
        profile.pointee.matrix_coefficients =
            options.isLossless ? heif_matrix_coefficients_RGB_GBR : heif_matrix_coefficients_ITU_R_BT_601_6
        profile.pointee.full_range_flag = 1
        settings.pointee.save_alpha_channel = rows.hasAlpha ? 1 : 0
        settings.pointee.output_nclx_profile = profile
        // Otherwise, as a workaround for an old macOS, libheif does not write code points, nor use them to convert the image.
        settings.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
        try HEIFLibrary.check(heif_image_set_nclx_color_profile(image, profile), encoding: true)
        var handle: OpaquePointer?
        try HEIFLibrary.check(
            heif_context_encode_image(context, image, encoder, settings, &handle),
            encoding: true
        )
        defer { heif_image_handle_release(handle) }
        // An image that itself fits into the box has no thumbnail.
        if options.encodeEmbedThumbnail, Double(max(rows.width, rows.height)) > EXIFThumbnail.box.width {
            var thumbnail: OpaquePointer?
            let side = Int32(EXIFThumbnail.box.width)
            try HEIFLibrary.check(
                heif_context_encode_thumbnail(context, image, handle, encoder, settings, side, &thumbnail),
                encoding: true
            )
            heif_image_handle_release(thumbnail)
        }
        return try bytes(of: context)
    }

    private static let sharpChromaQuality = 0.9

    private static func encoder(
        _ context: OpaquePointer,
        _ options: ImageEncodeOptions
    ) throws(WebImageError) -> OpaquePointer {
        var found: OpaquePointer?
        try HEIFLibrary.check(
            heif_context_get_encoder_for_format(context, heif_compression_HEVC, &found),
            encoding: true
        )
        guard let encoder = found else { throw WebImageError(.encodingFailed, "HEIF: no HEVC encoder is available") }
        do throws(WebImageError) {
            let quality = options.compressionQuality.isNaN ? 1 : min(max(options.compressionQuality, 0), 1)
            if options.isLossless {
                try HEIFLibrary.check(heif_encoder_set_lossless(encoder, 1), encoding: true)
            } else {
                try HEIFLibrary.check(
                    heif_encoder_set_lossy_quality(encoder, Int32((quality * 100).rounded())),
                    encoding: true
                )
            }
            let isSharp = options.isLossless || quality >= sharpChromaQuality
            // Encoders other than x265 may not know it.
            _ = heif_encoder_set_parameter_string(encoder, "chroma", isSharp ? "444" : "420")
            return encoder
        } catch {
            heif_encoder_release(encoder)
            throw error
        }
    }

    private static func makeImage(of rows: EncodableRows) throws(WebImageError) -> OpaquePointer {
        var created: OpaquePointer?
        let (width, height) = (Int32(clamping: rows.width), Int32(clamping: rows.height))
        let chroma = rows.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
        try HEIFLibrary.check(
            heif_image_create(width, height, heif_colorspace_RGB, chroma, &created),
            encoding: true
        )
        guard let image = created else { throw WebImageError(.outOfMemory, "no memory to encode HEIF") }
        do throws(WebImageError) {
            try HEIFLibrary.check(
                heif_image_add_plane(image, heif_channel_interleaved, width, height, 8),
                encoding: true
            )
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane(image, heif_channel_interleaved, &stride) else {
                throw WebImageError(.outOfMemory, "no memory to encode HEIF")
            }
            let target = UnsafeMutableRawPointer(plane)
            let bytesPerRow = rows.width * (rows.hasAlpha ? 4 : 3)
            var row = 0
            try rows.forEachBlock { (base, blockStride, count) throws(WebImageError) in
                for index in 0..<count {
                    (target + (row + index) * Int(stride)).copyMemory(
                        from: base + index * blockStride,
                        byteCount: bytesPerRow
                    )
                }
                row += count
            }
            return image
        } catch {
            heif_image_release(image)
            throw error
        }
    }

    private static func bytes(of context: OpaquePointer) throws(WebImageError) -> Data {
        var writer = heif_writer()
        writer.writer_api_version = 1
        writer.write = { _, bytes, count, target in
            guard let bytes, let target else {
                return heif_error(code: heif_error_Usage_error, subcode: heif_suberror_Unspecified, message: nil)
            }
            target.assumingMemoryBound(to: Data.self).pointee.append(
                bytes.assumingMemoryBound(to: UInt8.self),
                count: count
            )
            return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
        }
        var data = Data()
        let result = withUnsafeMutablePointer(to: &data) { heif_context_write(context, &writer, $0) }
        try HEIFLibrary.check(result, encoding: true)
        return data
    }
}
