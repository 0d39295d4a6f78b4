import CTIFFShims
public import FoundationEssentials
public import WebImageCodecs

extension TIFFCoder {
    /// Returns the memory cost of a decode: a row, or a row of tiles; a strip if libtiff decodes strips as a whole. Cost: reads the first directory.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try TIFFFile(bytes, limits: options.limits)
            try options.limits.check(width: file.width, height: file.height)
            let pixels = try TIFFPixels(file.info)
            let properties = Self.properties(file, pixels, options.limits)
            let plan = try DecodePlan.make(for: properties, options: options)
            guard let pixels else {
                let need = Self.assembly(file, .rgb8, properties, plan, options)
                return DecodeMemoryNeed(need, decoder: Self.convertedByteCount(file) + Self.tables(file))
            }
            let block = try TIFFBlock(file.info, pixels, options.limits, width: file.width)
            // Only reading floating-point samples shows whether any is brighter than white.
            let isHighBitDepth =
                options.keepsHighBitDepth && properties.isHighBitDepth || pixels.model == .lab && pixels.bits > 8
                || pixels.isFloat
                || pixels.isLight
            let layout = isHighBitDepth ? .rgbaFloat : pixels.layout(hasProfile: file.info.icc != nil)
            var decoder = AssemblyNeed.block(block.byteCount) + Self.tables(file) + file.width * 4
            if isHighBitDepth { decoder += file.width * 64 }
            if Self.decodesStrips.contains(file.info.compression) { decoder += 3 * Self.stripByteCount(file) }
            return DecodeMemoryNeed(Self.assembly(file, layout, properties, plan, options), decoder: decoder)
        }
    }

    private static func assembly(
        _ file: TIFFFile,
        _ layout: ScanlineLayout,
        _ properties: ImageProperties,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions
    ) -> AssemblyNeed {
        AssemblyNeed(
            width: file.width,
            height: file.height,
            layout: layout,
            hasTransform: file.info.icc != nil,
            hasAlpha: properties.hasAlpha,
            plan: plan,
            options: options
        )
    }

    /// The compressions whose decoders need a strip or tile as a whole: PixarLog, LZMA, LogLuv, LERC, Zstandard, WebP.
    private static let decodesStrips: Set<UInt16> = [32_909, 34_925, 34_676, 34_677, 34_887, 50_000, 50_001]

    private static func rowsPerStrip(_ file: TIFFFile) -> Int {
        max(min(Int(file.info.rows_per_strip), file.height), 1)
    }

    private static func stripByteCount(_ file: TIFFFile) -> Int {
        let info = file.info
        if info.tiled { return Int(clamping: info.tile_bytes) }
        return TIFFBlock.product(Int(clamping: info.row_bytes), rowsPerStrip(file))
    }

    /// Returns the bytes of a strip or row of tiles as RGBA, twice.
    private static func convertedByteCount(_ file: TIFFFile) -> Int {
        let info = file.info
        let (width, height) =
            info.tiled ? (Int(info.tile_width), Int(info.tile_height)) : (file.width, rowsPerStrip(file))
        let across = (file.width + max(width, 1) - 1) / max(width, 1)
        return TIFFBlock.product(TIFFBlock.product(across * width, height), 8)
    }

    /// Returns the bytes of the tables of strip or tile offsets, in every handle, and of the profile.
    private static func tables(_ file: TIFFFile) -> Int {
        let info = file.info
        let planes = info.separate_planes ? max(Int(info.samples_per_pixel), 1) : 1
        let rows = info.tiled ? max(Int(info.tile_height), 1) : rowsPerStrip(file)
        let across = info.tiled ? (file.width + max(Int(info.tile_width), 1) - 1) / max(Int(info.tile_width), 1) : 1
        let blocks = TIFFBlock.product(across * ((file.height + rows - 1) / rows), planes)
        return TIFFBlock.product(TIFFBlock.product(blocks, planes), 32) + 2 * info.icc_length
    }
}
