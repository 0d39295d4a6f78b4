public import FoundationEssentials

extension PNGCoder {
    /// Returns the memory cost of a decode: a few rows, all rows of an interlaced image, a canvas for an animation whose first frame does not cover
    /// it. Cost: reads all chunks.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let header = try Self.header(of: data, limits: options.limits)
        let properties = Self.properties(header, data)
        let plan = try DecodePlan.make(for: properties, options: options)
        let frames = header.animation.frames.count * Self.bytesOfFrame
        if let poster = header.poster, !poster.covers(width: header.width, height: header.height) {
            let part = AssemblyNeed.block(poster.width * poster.height * 4) + poster.width * Self.bytesOfRowPixel
            return .composed(properties, plan, options, decoder: part + frames)
        }
        let isHighBitDepth =
            header.needsHighBitDepthRows
            || options.keepsHighBitDepth && properties.isHighBitDepth && properties.frameCount == 1
        return Self.memoryNeed(header, isHighBitDepth: isHighBitDepth, plan: plan, options: options, other: frames)
    }

    /// Returns the memory cost of an image whose rows are read.
    static func memoryNeed(
        _ header: PNGHeader,
        isHighBitDepth: Bool,
        plan: DecodePlan,
        options: ImageDecodeOptions,
        other: Int = 0
    ) -> DecodeMemoryNeed {
        let isGray = header.isGray && !header.hasAlpha && header.colorType != 3
        let layout: ScanlineLayout = isHighBitDepth ? .rgbaFloat : header.hasAlpha ? .rgba8 : isGray ? .gray8 : .rgb8
        // Only reading the profile shows whether it is sRGB.
        let hasTransform = header.color.profileName != nil || header.color.coded != nil
        let assembly = AssemblyNeed(
            width: header.width,
            height: header.height,
            layout: layout,
            hasTransform: hasTransform,
            hasAlpha: header.hasAlpha,
            plan: plan,
            options: options
        )
        var decoder = header.width * Self.bytesOfRowPixel + other
        if header.isInterlaced, !assembly.readsAtOnce {
            decoder += AssemblyNeed.block(header.width * (isHighBitDepth ? 8 : layout.bytesPerPixel) * header.height)
        }
        return DecodeMemoryNeed(assembly, decoder: decoder)
    }

    /// libpng buffers a row as it is stored, the one before it, and the converted one.
    static let bytesOfRowPixel = 24
    /// The memory for a frame's description, counted several times because arrays are copied as they grow.
    static let bytesOfFrame = 400
}

extension DecodeMemoryNeed {
    /// Returns the memory cost of a frame that is drawn on a canvas: the canvas, and the scaled, converted and rotated image.
    static func composed(
        _ properties: ImageProperties,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions,
        decoder: Int
    ) -> DecodeMemoryNeed {
        let isHighBitDepth = options.pixelFormat == .rgbaHalfPremultiplied
        let output = AssemblyNeed.bitmap(plan, bytesPerPixel: isHighBitDepth ? 8 : 4)
        let assembly = AssemblyNeed(
            width: properties.width,
            height: properties.height,
            layout: .bgra8Premultiplied,
            hasTransform: false,
            hasAlpha: true,
            plan: plan,
            options: ImageDecodeOptions()
        )
        let canvas = AssemblyNeed.block(properties.width * properties.height * 4)
        let isSameSize = plan.width == properties.width && plan.height == properties.height
        var copies = isHighBitDepth ? 1 : 0
        if plan.orientation != .up { copies += 1 }
        if !isSameSize { copies += 1 }
        let bitmap = AssemblyNeed.bitmap(plan, bytesPerPixel: 4)
        return DecodeMemoryNeed(
            outputByteCount: output,
            workingByteCount: canvas + decoder + assembly.rowByteCount + copies * bitmap
        )
    }
}
