public import FoundationEssentials

extension GIFCoder {
    /// Returns the memory cost of a decode: the palette indices of the first frame, and the description of each frame. Cost: reads all blocks.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let structure = try data.withBytes { (bytes) throws(WebImageError) in
            try GIFStructure(bytes, frameLimit: options.limits.maximumFrameCount)
        }
        let properties = Self.properties(structure)
        let plan = try DecodePlan.make(for: properties, options: options)
        guard let frame = structure.frames.first else { throw WebImageError(.badImageData, "GIF: no image") }
        try options.limits.check(width: frame.width, height: frame.height)
        try options.limits.check(decodedByteCount: frame.width * frame.height)
        let assembly = AssemblyNeed(
            width: structure.width,
            height: structure.height,
            layout: properties.hasAlpha ? .rgba8 : .rgb8,
            hasTransform: false,
            hasAlpha: properties.hasAlpha,
            plan: plan,
            options: options
        )
        let numbers = AssemblyNeed.block(frame.width * frame.height)
        return DecodeMemoryNeed(assembly, decoder: numbers + structure.frames.count * Self.bytesOfFrame)
    }

    /// The memory for a frame's description, counted several times because arrays are copied as they grow.
    private static let bytesOfFrame = 600
}
