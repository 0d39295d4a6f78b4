public import FoundationEssentials

extension GIFCoder {
    /// What a decode takes: the colour numbers of the first frame, however many there are, and what is known of each frame. Steps
    /// through the blocks.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let structure = try data.withBytes { (bytes) throws(WebImageError) in
            try GIFStructure(bytes, frameLimit: options.limits.maximumFrameCount)
        }
        let properties = Self.properties(structure)
        let plan = try DecodePlan.make(for: properties, options: options)
        guard let frame = structure.frames.first else { throw WebImageError(.badImageData, "GIF: there is no picture") }
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

    /// What is known of a frame, several times while lists grow.
    private static let bytesOfFrame = 600
}
