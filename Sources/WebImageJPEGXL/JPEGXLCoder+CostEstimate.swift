public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder {
    /// Returns the memory cost of a decode: the most that libjxl was measured to need for an image of that kind and size, and all its pixels,
    /// whatever the requested size. Cost: reads the headers of all frames.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let header = try JPEGXLHeader(data, limits: options.limits, wantsFrames: !options.decodeFirstFrameOnly)
        let plan = try DecodePlan.make(for: header.properties, options: options)
        return Self.memoryNeed(header, plan, try JPEGXLPixels(header, options: options), options).need
    }

    /// - Returns: the cost of an image or a frame, and the additional bytes that the decoder keeps for the next frames.
    static func memoryNeed(
        _ header: JPEGXLHeader,
        _ plan: DecodePlan,
        _ pixels: JPEGXLPixels,
        _ options: ImageDecodeOptions
    ) -> (need: DecodeMemoryNeed, kept: Int) {
        let assembly = AssemblyNeed(
            width: pixels.width,
            height: pixels.height,
            layout: pixels.layout,
            // Only reading the profile shows whether it is needed.
            hasTransform: pixels.layout != .rgbaFloat && (pixels.color.map { !$0.isSRGB } ?? true),
            hasAlpha: header.properties.hasAlpha,
            plan: plan,
            options: options
        )
        var decoder = header.workByteCount + header.properties.frameCount * 100 + Self.fixedByteCount
        // With XYB colours, alpha needs more memory than its samples.
        if header.properties.hasAlpha { decoder += pixels.width * pixels.height * 8 }
        // Up to four reference frames, of four bytes a sample; their number is not known in advance.
        let samples = header.properties.hasAlpha ? 4 : 3
        let kept = header.properties.frameCount > 1 ? 4 * 4 * samples * pixels.width * pixels.height : 0
        if header.properties.frameCount == 1 {
            let threads = CodingQueue.mostThreads(forPixelCount: pixels.width * pixels.height)
            decoder += (threads - 1) * Self.threadByteCount
        }
        if !assembly.readsAtOnce { decoder += AssemblyNeed.block(pixels.bytesPerRow * pixels.height) }
        return (DecodeMemoryNeed(assembly, decoder: decoder), kept)
    }

    /// The memory of libjxl 0.7 for the smallest image, as measured: the buffers of a group, and tables for a profile.
    private static let fixedByteCount = 8 << 20
    /// The memory of each additional thread: the buffers of a group.
    private static let threadByteCount = 4 << 20
}
