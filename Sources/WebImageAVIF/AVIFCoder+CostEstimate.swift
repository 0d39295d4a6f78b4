public import FoundationEssentials
public import WebImageCodecs

extension AVIFCoder {
    /// Returns the memory cost of a decode: the planes of the whole image, whatever the requested size, and 68 rows of pixels. Cost: reads the boxes
    /// and the codec's bitstream headers.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try AVIFFile(bytes, limits: options.limits)
            let plan = try DecodePlan.make(for: file.properties, options: options)
            try file.checkBeforeDecoding()
            return try Self.memoryNeed(file, plan, options)
        }
    }

    /// Returns the memory cost of an image, or the next frame, of an opened file.
    static func memoryNeed(
        _ file: AVIFFile,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let properties = file.properties
        let rows = try AVIFRows(file, options: options)
        let assembly = AssemblyNeed(
            width: rows.width,
            height: rows.height,
            layout: rows.layout,
            hasTransform: rows.colorProfile != nil,
            hasAlpha: properties.hasAlpha,
            plan: plan,
            options: options,
            bandPixelCount: rows.decodedPixelCount
        )
        let threads = CodingQueue.mostThreads(forPixelCount: rows.decodedPixelCount)
        let band = threads * 68 * (rows.width + 4) * (rows.layout == .rgbaFloat ? 8 : 4)
        let frames = properties.frameCount * 300
        return DecodeMemoryNeed(assembly, decoder: file.memoryNeed + band + frames)
    }
}
