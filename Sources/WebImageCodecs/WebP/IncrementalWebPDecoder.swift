import CWebP
import FoundationEssentials

/// Wraps libwebp: suspends at the end of the bytes and resumes with more.
final class IncrementalWebPDecoder {
    private let decoder: OpaquePointer
    // The decoder keeps pointers into this memory.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let pixelCount: Int
    private(set) var isDone = false

    /// - Parameters:
    ///   - base: the memory for the first row; must stay valid.
    ///   - scaled: the size to scale to; nil for the image's own size.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(
        base: UnsafeMutablePointer<UInt8>,
        bytesPerRow: Int,
        size: (width: Int, height: Int),
        hasAlpha: Bool,
        isScaled: Bool
    ) throws(WebImageError) {
        pixelCount = size.width * size.height
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        guard WebPInitDecoderConfig(config) != 0 else {
            config.deallocate()
            throw WebImageError(.badImageData, "WebP: version mismatch with the installed libwebp")
        }
        if isScaled {
            config.pointee.options.use_scaling = 1
            config.pointee.options.scaled_width = Int32(size.width)
            config.pointee.options.scaled_height = Int32(size.height)
        }
        config.pointee.output.colorspace = hasAlpha ? MODE_RGBA : MODE_RGB
        config.pointee.output.is_external_memory = 1
        config.pointee.output.u.RGBA.rgba = base
        config.pointee.output.u.RGBA.stride = Int32(bytesPerRow)
        config.pointee.output.u.RGBA.size = bytesPerRow * (size.height - 1) + size.width * (hasAlpha ? 4 : 3)
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw WebImageError(.outOfMemory, "no memory to decode WebP")
        }
        self.decoder = decoder
    }

    deinit {
        WebPIDelete(decoder)
        WebPFreeDecBuffer(&config.pointee.output)
        config.deallocate()
    }

    /// Decodes the available bytes.
    ///
    /// - Parameter bytes: all bytes of the image so far, from the first; the address may change between calls, the contents may not.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/outOfMemory``.
    func update(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        guard !isDone else { return }
        let status = WebPIUpdate(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        switch status {
        case VP8_STATUS_OK: isDone = true
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA: break
        default: throw WebPRowReader.error(status, pixelCount: pixelCount)
        }
    }

    /// The number of available rows, at the size to which the decoder scales.
    var rowCount: Int {
        var last: Int32 = 0
        let pixels = WebPIDecGetRGB(decoder, &last, nil, nil, nil)
        return pixels == nil ? 0 : Int(last)
    }
}
