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
        try await RegionBytes(data).reader(coders: self, options: options)
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
        guard let bytes, coders.last(where: { $0.canDecode(bytes.beginning) }) is any RegionCoder,
            let reader = try? await bytes.reader(coders: self, options: options)
        else { return nil }
        return reader.isNative ? reader : nil
    }
}

extension RegionBytes {
    /// Creates a reader with the coder that takes the bytes.
    package func reader(
        coders: ImageCodersManager,
        options: RegionOptions
    ) async throws(WebImageError) -> ImageRegionReader {
        guard let coder = coders.coders.last(where: { $0.canDecode(self.beginning) }) else {
            // Throws an error that says why.
            _ = try coders.properties(of: beginning, limits: options.limits)
            throw WebImageError(.unsupportedFormat, "no coder decodes the image")
        }
        let queue = CodingQueue.queue(of: coder, for: beginning)
        return try await queue.run { () throws(WebImageError) in
            let isJPEG = coder is JPEGCoder
            let properties =
                try isJPEG
                ? JPEGRegions.properties(self, options.headerLimits)
                : coder.properties(of: try self.data(options.limits), limits: options.headerLimits)
            let fallback = try RegionFallback(self, properties, options)
            let levels = fallback.levels
            var source: (any RegionSource)?
            if let coder = coder as? any RegionCoder {
                source = try coder.regions(of: self, properties: properties, levels: levels, options: options)
            }
            let chosen = if let source { source } else { try fallback.source(coder: coder) }
            // Reads of a drawing wait for one that draws its level. On a queue with one thread, they wait without blocking the threads that decode.
            let reads = chosen is DrawnRegions ? WorkQueue(name: "webimage.drawings", width: 1) : queue
            return ImageRegionReader(chosen, properties: properties, levels: levels, options: options, queue: reads)
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
        guard let coder = coder as? any RowCoder else { return nil }
        var decoding = options.decoding
        decoding.limits = options.headerLimits
        let rowOptions = decoding
        return try PyramidRegions(bytes, properties, levels, options, cache) { () throws(WebImageError) in
            // The builder retains the bytes.
            try coder.rows(of: bytes.data(options.limits), options: rowOptions)
        }
    }
}

extension ImageFormat {
    /// A Boolean value that indicates whether images are drawings without pixels.
    fileprivate var isDrawn: Bool { self == .svg || self == .pdf }
}
