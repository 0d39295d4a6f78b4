public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder {
    /// What a decode takes: the most that libjxl was seen to take for a picture of that kind and size, and all its pixels, whatever the
    /// size that is wanted. Steps through the headers of frames.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let header = try JPEGXLHeader(data, limits: options.limits, wantsFrames: !options.decodeFirstFrameOnly)
        let plan = try DecodePlan.make(for: header.properties, options: options)
        return Self.memoryNeed(header, plan, try JPEGXLPixels(header, options: options), options).need
    }

    /// - Returns: what a picture or a frame takes, and what the decoder keeps besides for the next frames.
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
            // Whether the colours are those of a profile is known when they have been read.
            hasTransform: pixels.layout != .rgbaFloat && (pixels.color.map { !$0.isSRGB } ?? true),
            hasAlpha: header.properties.hasAlpha,
            plan: plan,
            options: options
        )
        var decoder = header.workByteCount + header.properties.frameCount * 100 + Self.fixedByteCount
        // Alpha beside colours in XYB takes more than its samples.
        if header.properties.hasAlpha { decoder += pixels.width * pixels.height * 8 }
        // Up to four frames that others are drawn on, of four bytes a sample, and nothing tells how many.
        let samples = header.properties.hasAlpha ? 4 : 3
        let kept = header.properties.frameCount > 1 ? 4 * 4 * samples * pixels.width * pixels.height : 0
        if !assembly.readsAtOnce { decoder += AssemblyNeed.block(pixels.bytesPerRow * pixels.height) }
        return (DecodeMemoryNeed(assembly, decoder: decoder), kept)
    }

    /// What libjxl 0.7 was seen to take for the smallest picture: the buffers of a group, and tables for a profile.
    private static let fixedByteCount = 8 << 20
}
