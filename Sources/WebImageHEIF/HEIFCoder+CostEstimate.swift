public import FoundationEssentials
public import WebImageCodecs

extension HEIFCoder {
    /// Returns the memory cost of a decode: libheif decodes the whole image and converts all of it to RGB planes, whatever the requested size. Cost:
    /// reads the boxes and the codecs' bitstream headers.
    ///
    /// - Throws: the errors of ``decode(_:options:)`` for the header, including ``WebImageError/Code/limitExceeded`` for more bytes than
    ///   ``ImageLimits/maximumDecodedByteCount``.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try HEIFFile(bytes, limits: options.limits)
            let properties = file.properties
            let plan = try DecodePlan.make(for: properties, options: options)
            try file.checkBeforeDecoding()
            let needsHighBitDepth =
                file.color.needsHighBitDepthRows(bitsPerComponent: properties.bitsPerComponent)
                && file.colorProfile == nil
            let isHighBitDepth = needsHighBitDepth || options.keepsHighBitDepth && properties.isHighBitDepth
            let assembly = AssemblyNeed(
                width: properties.width,
                height: properties.height,
                layout: isHighBitDepth ? .rgbaFloat : properties.hasAlpha ? .rgba8 : .rgb8,
                hasTransform: file.colorProfile != nil || !isHighBitDepth && file.color.makeProfile() != nil,
                hasAlpha: properties.hasAlpha,
                plan: plan,
                options: options,
                bandPixelCount: properties.width * properties.height
            )
            // The codec's memory is released before rows are read.
            let reading = DecodeMemoryNeed(assembly, decoder: file.planeByteCount + (1 << 20))
            let more = max(file.memoryNeed - reading.totalByteCount, 0)
            return DecodeMemoryNeed(assembly, decoder: file.planeByteCount + (1 << 20) + more)
        }
    }
}
