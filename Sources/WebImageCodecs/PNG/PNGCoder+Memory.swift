public import FoundationEssentials

extension PNGCoder {
    /// What a decode takes: a few rows, all of an interlaced picture, a canvas for an animation whose first frame does not cover it.
    /// Steps through the chunks.
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
        let isWide =
            header.needsWideRows || options.keepsWidePixels && properties.isWide && properties.frameCount == 1
        return Self.memoryNeed(header, isWide: isWide, plan: plan, options: options, other: frames)
    }

    /// Of a picture whose rows are read.
    static func memoryNeed(
        _ header: PNGHeader,
        isWide: Bool,
        plan: DecodePlan,
        options: ImageDecodeOptions,
        other: Int = 0
    ) -> DecodeMemoryNeed {
        let isGray = header.isGray && !header.hasAlpha && header.colorType != 3
        let layout: ScanlineLayout = isWide ? .rgbaFloat : header.hasAlpha ? .rgba8 : isGray ? .gray8 : .rgb8
        // Whether the profile is sRGB is known when it has been read.
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
            decoder += AssemblyNeed.block(header.width * (isWide ? 8 : layout.bytesPerPixel) * header.height)
        }
        return DecodeMemoryNeed(assembly, decoder: decoder)
    }

    /// libpng holds a row as it is stored, the one before it, and one as it is handed out.
    static let bytesOfRowPixel = 24
    /// What is known of a frame, several times while lists grow.
    static let bytesOfFrame = 400
}

extension DecodeMemoryNeed {
    /// Of a frame that is drawn on a canvas: that, and the picture as it is scaled, converted and turned.
    static func composed(
        _ properties: ImageProperties,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions,
        decoder: Int
    ) -> DecodeMemoryNeed {
        let isWide = options.pixelFormat == .rgbaHalfPremultiplied
        let output = AssemblyNeed.bitmap(plan, bytesPerPixel: isWide ? 8 : 4)
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
        var copies = isWide ? 1 : 0
        if plan.orientation != .up { copies += 1 }
        if !isSameSize { copies += 1 }
        let picture = AssemblyNeed.bitmap(plan, bytesPerPixel: 4)
        return DecodeMemoryNeed(
            outputByteCount: output,
            workingByteCount: canvas + decoder + assembly.rowByteCount + copies * picture
        )
    }
}
