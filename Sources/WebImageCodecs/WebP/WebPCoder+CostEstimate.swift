public import FoundationEssentials

extension WebPCoder {
    /// Returns the memory cost of a decode: all pixels of a lossless image, all alpha of others; in addition the scaled image, unless the decoder
    /// writes into the result. Cost: reads the headers of all frames.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let container = try Self.container(of: data, limits: options.limits)
        let properties = Self.properties(container, options.limits)
        let plan = try DecodePlan.make(for: properties, options: options)
        try options.limits.check(decodedByteCount: container.decoderByteCount)
        let size = Self.decoderSize(for: plan, of: properties, isAnimated: container.frameCount > 1, options: options)
        let scales = container.firstCoversCanvas
        let (width, height) = scales ? size : (container.width, container.height)
        let layout: ScanlineLayout = container.hasAlpha ? .rgba8 : .rgb8
        let assembly = AssemblyNeed(
            width: width,
            height: height,
            layout: layout,
            hasTransform: container.colorProfile != nil,
            hasAlpha: container.hasAlpha,
            plan: plan,
            options: options
        )
        var decoder = Self.decoderMemory(container.first) + container.frameCount * Self.bytesOfFrame
        decoder += 2 * (container.colorProfile?.count ?? 0)
        if !assembly.readsAtOnce {
            let frame = container.first.width * container.first.height * 4
            decoder += AssemblyNeed.block(scales ? width * height * layout.bytesPerPixel : frame)
        }
        return DecodeMemoryNeed(assembly, decoder: decoder)
    }

    /// Returns the maximum memory that libwebp allocates for a frame. Alpha is a separate lossless image, decoded into a plane.
    private static func decoderMemory(_ frame: WebPContainer.Frame) -> Int {
        let pixels = frame.width * frame.height
        let rows = frame.width * 160
        if frame.isLossless { return pixels * 4 + pixels / 2 + rows }
        return (frame.hasAlpha ? pixels * 5 : 0) + rows
    }

    /// Returns the memory for a frame of an animation beside its pixels: the decoder's, and the decoded image.
    static func memory(of frame: WebPContainer.Frame) -> Int {
        decoderMemory(frame) + AssemblyNeed.block(frame.width * frame.height * 4)
    }

    /// The memory for a frame's description, counted several times because arrays are copied as they grow.
    private static let bytesOfFrame = 300
}
