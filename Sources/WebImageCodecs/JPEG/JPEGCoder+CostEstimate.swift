public import FoundationEssentials

extension JPEGCoder {
    /// Returns the memory cost of a decode: a few rows of an image with one scan; all coefficients of one with several scans, whatever the requested
    /// size. Cost: reads the header.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed { try memoryNeed(of: data, options: options) { _ in } }

    /// Returns the memory cost of decoding a JPEG that is embedded in another file; ``decode(_:options:adapt:)`` describes the parameters.
    package func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions,
        adapt: (inout ImageProperties) -> Void
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let header = try JPEGHeader(bytes, limits: options.limits)
            var properties = Self.properties(header, options.limits)
            adapt(&properties)
            let plan = try DecodePlan.make(for: properties, options: options)
            try options.limits.check(decodedByteCount: header.coefficientByteCount)
            return Self.memoryNeed(header, plan, options)
        }
    }

    static func memoryNeed(
        _ header: JPEGHeader,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions
    ) -> DecodeMemoryNeed {
        let (layout, profile) = layout(header, plan, options)
        let eighths = eighths(for: plan, header.frame, options.scalingQuality)
        let width = (header.frame.width * eighths + 7) / 8
        let bandPixelCount = JPEGRestarts.canHavePlaces(header) ? header.frame.width * header.frame.height : 0
        let threads = CodingQueue.mostThreads(forPixelCount: bandPixelCount)
        let assembly = AssemblyNeed(
            width: width,
            height: (header.frame.height * eighths + 7) / 8,
            layout: layout,
            hasTransform: profile != nil,
            hasAlpha: false,
            plan: plan,
            options: options,
            bandPixelCount: bandPixelCount
        )
        // libjpeg buffers two rows of blocks with their neighbours, and rows before and after upsampling.
        let rows = 24 * header.frame.sampling.count * (width + 64)
        // Each thread but one has a copy of the header. There is one offset for a row of blocks at the most.
        let bands = threads > 1 ? (threads + 1) * (rows + header.scanStart) + 3 * header.frame.height : rows
        return DecodeMemoryNeed(
            assembly,
            decoder: header.coefficientByteCount + bands + 2 * (header.colorProfile?.count ?? 0)
        )
    }
}
