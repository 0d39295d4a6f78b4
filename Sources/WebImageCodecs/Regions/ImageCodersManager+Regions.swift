public import FoundationEssentials

extension ImageCodersManager {
    /// Opens a local file to read rectangles of its image.
    ///
    /// The file is not loaded if it is a baseline JPEG of more than 16 MiB. The reader keeps it open; if the file is changed meanwhile, reads fail or
    /// have wrong pixels, but nothing else happens.
    ///
    /// - Parameters:
    ///   - path: The path of a regular file.
    ///   - options: Tile size, limits, and where tiles may be written.
    /// - Throws: ``WebImageError/Code/fileNotFound``, ``WebImageError/Code/fileAccessFailed``, and the errors of
    ///   ``ImageCoder/properties(of:limits:)``.
    public func regionReader(
        forFileAt path: String,
        options: RegionOptions = RegionOptions()
    ) async throws(WebImageError) -> any RegionReader {
        try await CodingQueue.shared.run { () throws(WebImageError) in try RegionBytes(path: path) }
            .reader(coders: self, options: options)
    }

    /// Opens encoded data, which the reader retains, to read rectangles of its image.
    ///
    /// - Parameters:
    ///   - data: The whole file.
    ///   - options: Tile size, limits, and where tiles may be written.
    /// - Throws: The errors of ``ImageCoder/properties(of:limits:)``.
    public func regionReader(
        for data: Data,
        options: RegionOptions = RegionOptions()
    ) async throws(WebImageError) -> any RegionReader {
        // A slice is copied, on one of the library's threads.
        try await CodingQueue.shared.run { RegionBytes(data) }.reader(coders: self, options: options)
    }
}

extension ImageCodersManager {
    /// Opens a local file if regions of it are decoded without the rest of the image; nil for others, and if it cannot be opened.
    package func nativeRegionReader(forFileAt path: String, limits: ImageLimits) async -> ImageRegionReader? {
        var options = RegionOptions()
        options.limits = limits
        options.pyramids = nil
        options.usesOnlyFullSize = true
        let bytes = try? await CodingQueue.shared.run { () throws(WebImageError) in try RegionBytes(path: path) }
        // Reading the properties of other formats can take long.
        guard let bytes, decodesRegions(bytes.beginning),
            let reader = try? await bytes.reader(coders: self, options: options)
        else { return nil }
        return reader.isNative ? reader : nil
    }

    /// Returns whether regions of most images of a format are decoded without the rest, here or in a worker process.
    private func decodesRegions(_ beginning: Data) -> Bool {
        switch regionCoder(for: beginning) {
        case is any RegionCoder: true
        case is any RegionServingCoder: Self.shared.regionCoder(for: beginning) is any RegionCoder
        default: false
        }
    }
}

extension RegionBytes {
    /// Creates a reader with the coder that takes the bytes.
    package func reader(
        coders: ImageCodersManager,
        options: RegionOptions
    ) async throws(WebImageError) -> ImageRegionReader {
        guard let coder = coders.regionCoder(for: beginning) else {
            // Throws an error that says why.
            _ = try coders.properties(of: beginning, limits: options.limits)
            throw WebImageError(.unsupportedFormat, "no coder decodes the image")
        }
        let queue = CodingQueue.queue(of: coder, for: beginning)
        return try await queue.run { () throws(WebImageError) in
            let properties = try self.properties(by: coder, options)
            let fallback = try RegionFallback(self, properties, options)
            let native = try self.native(coder, properties, fallback, options)
            let chosen = if let native { native } else { try fallback.source(coder: coder) }
            return ImageRegionReader(
                chosen,
                properties: properties,
                levels: fallback.levels,
                options: options,
                queue: chosen.readQueue ?? queue
            )
        }
    }

    /// Reads the header, of a JPEG without loading the file.
    func properties(by coder: any ImageCoder, _ options: RegionOptions) throws(WebImageError) -> ImageProperties {
        let limits = options.headerLimits
        if coder is JPEGCoder { return try JPEGRegions.properties(self, limits) }
        guard coder is any RegionServingCoder, file >= 0, ImageFormat(detecting: beginning) == .jpeg else {
            return try coder.properties(of: data(options.limits), limits: limits)
        }
        return try longEnoughPrefix { (start) throws(WebImageError) in try coder.properties(of: start, limits: limits) }
    }

    /// Returns the coder's own source of regions; nil if it decodes the image as a whole.
    private func native(
        _ coder: any ImageCoder,
        _ properties: ImageProperties,
        _ fallback: RegionFallback,
        _ options: RegionOptions
    ) throws(WebImageError) -> (any RegionSource)? {
        let levels = fallback.levels
        if let coder = coder as? any RegionCoder {
            return try coder.regions(of: self, properties: properties, levels: levels, options: options)
        }
        guard let serving = coder as? any RegionServingCoder,
            let server = try serving.regionServer(of: input, options.setup(.regions, levels[0]))
        else { return nil }
        return ServedRegions(server, properties, levels: levels, options: options) { () throws(WebImageError) in
            try fallback.source(coder: coder)
        }
    }
}

/// Chooses how to read regions of an image whose coder does not do it itself.
struct RegionFallback {
    let levels: [RegionLevel]
    private let bytes: RegionBytes
    private let properties: ImageProperties
    private let options: RegionOptions

    /// - Throws: ``WebImageError/Code/limitExceeded``.
    init(_ bytes: RegionBytes, _ properties: ImageProperties, _ options: RegionOptions) throws(WebImageError) {
        (self.bytes, self.properties, self.options) = (bytes, properties, options)
        var (width, height) = properties.uprightSize
        if properties.format.isDrawn, let box = options.drawnSize, box.isUsable {
            let scale = min(box.width / Double(width), box.height / Double(height))
            width = DecodePlan.drawnSide(Double(width) * scale, .toNearestOrAwayFromZero)
            height = DecodePlan.drawnSide(Double(height) * scale, .toNearestOrAwayFromZero)
        }
        try options.headerLimits.check(width: width, height: height)
        levels = RegionLevel(width: width, height: height).pyramid(tileSize: options.usedTileSize)
    }

    init(_ bytes: RegionBytes, _ properties: ImageProperties, _ levels: [RegionLevel], _ options: RegionOptions) {
        (self.bytes, self.properties, self.levels, self.options) = (bytes, properties, levels, options)
    }

    func source(coder: any ImageCoder) throws(WebImageError) -> any RegionSource {
        let decoding = options.decoding
        if properties.format.isDrawn {
            let data = try bytes.data(options.limits)
            return DrawnRegions(levels: levels) { (level) throws(WebImageError) in
                var options = decoding
                options.thumbnailPixelSize = ImageSize(width: level.width, height: level.height)
                options.preserveAspectRatio = false
                return try coder.decode(data, options: options)
            }
        }
        let bytesPerPixel = properties.hasAlpha ? 4 : 3
        let isSmall = levels[0].pixelCount <= options.maximumWholeByteCount / bytesPerPixel
        if !isSmall, let cache = options.pyramids, let pyramid = try pyramid(coder, cache) { return pyramid }
        // Refuses an image that cannot be decoded within the limits.
        _ = try DecodePlan.make(for: properties, options: decoding)
        let data = try bytes.data(options.limits)
        return WholeImageRegions(levels: levels) { () throws(WebImageError) in
            try coder.decode(data, options: decoding)
        }
    }

    private func pyramid(
        _ coder: any ImageCoder,
        _ cache: PyramidCache
    ) throws(WebImageError) -> (any RegionSource)? {
        try PyramidRegions(bytes, properties, levels, options, cache) { () throws(WebImageError) in
            try coder.rowStrips(of: bytes, properties, options)
        }
    }
}

extension ImageFormat {
    /// A Boolean value that indicates whether images are drawings without pixels.
    fileprivate var isDrawn: Bool { self == .svg || self == .pdf }
}
