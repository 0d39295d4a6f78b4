public import FoundationEssentials

extension ICOCoder {
    /// Returns the memory cost of a decode: a few rows of the best fitting image; if that is a PNG, the PNG's cost and a copy of its bytes. Cost:
    /// reads the headers of all images.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let directory = try ICODirectory(bytes)
            let largest = directory.largest
            var properties = ImageProperties(format: .ico, width: largest.width, height: largest.height)
            properties.hasAlpha = true
            let plan = try DecodePlan.make(for: properties, options: options)
            let isFullSize = plan.width == largest.width && plan.height == largest.height
            let entry = isFullSize ? largest : directory.smallest(atLeast: plan.width, by: plan.height)
            try options.limits.check(width: entry.width, height: entry.height)
            if entry.isPNG {
                let encoded = UnsafeRawBufferPointer(rebasing: bytes[entry.range])
                let header = try PNGHeader(encoded, limits: options.limits)
                return PNGCoder.memoryNeed(
                    header,
                    isHighBitDepth: false,
                    plan: plan,
                    options: options,
                    other: entry.range.count
                )
            }
            let assembly = AssemblyNeed(
                width: entry.width,
                height: entry.height,
                layout: .rgba8,
                hasTransform: false,
                hasAlpha: true,
                plan: plan,
                options: options
            )
            return DecodeMemoryNeed(assembly, decoder: 0)
        }
    }
}
