public import FoundationEssentials

extension WebPCoder {
    /// What a decode takes: all pixels of a picture coded without loss, all alpha of others; besides, where the decoder does not write into
    /// the result, the picture as it scales it. Steps through the headers of all frames.
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

    /// What libwebp takes for a frame at the most. Alpha is a picture without loss of its own, decoded into a plane.
    private static func decoderMemory(_ frame: WebPContainer.Frame) -> Int {
        let pixels = frame.width * frame.height
        let rows = frame.width * 160
        if frame.isLossless { return pixels * 4 + pixels / 2 + rows }
        return (frame.hasAlpha ? pixels * 5 : 0) + rows
    }

    /// What a frame of an animation takes beside its pixels: the decoder, and the picture as it comes from that.
    static func memory(of frame: WebPContainer.Frame) -> Int {
        decoderMemory(frame) + AssemblyNeed.block(frame.width * frame.height * 4)
    }

    /// What is known of a frame, several times while lists grow.
    private static let bytesOfFrame = 300
}
