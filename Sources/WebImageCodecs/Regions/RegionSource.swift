package import FoundationEssentials

/// Decodes regions of one image. ``ImageRegionReader`` schedules it.
package protocol RegionSource: AnyObject, Sendable {
    /// Returns the number of rows that have to be passed before a region is read; 0 if it can be read at once. The unit is the source's.
    func rowsNeeded(for area: PixelArea, level: Int) -> Int

    /// Passes more rows, for a few hundredths of a second. Called by one thread at a time, while other threads read.
    ///
    /// - Returns: The number of rows so far; `Int.max` after the last.
    func advance() throws(WebImageError) -> Int

    /// Decodes a region, upright. Called by several threads at the same time, for areas whose rows have been passed.
    ///
    /// - Parameters:
    ///   - area: In pixels of the upright level, within it.
    ///   - check: Throws when the region is no longer wanted. Called every few rows.
    func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image

    /// The queue for passes that take long; nil for the queue of the reads.
    var passQueue: WorkQueue? { get }

    /// The queue for reads, if one with fewer threads is needed than that of the coder; else nil.
    var readQueue: WorkQueue? { get }

    /// Indicates whether regions of the full size are decoded without the rest of the image.
    var isNative: Bool { get }

    /// Returns a source for an image that this one turned out not to decode; nil if there is none. Has the same levels.
    func replacement(after error: WebImageError) throws(WebImageError) -> (any RegionSource)?
}

extension RegionSource {
    package func rowsNeeded(for area: PixelArea, level: Int) -> Int { 0 }
    package func advance() throws(WebImageError) -> Int { .max }
    package var passQueue: WorkQueue? { nil }
    package var readQueue: WorkQueue? { nil }
    package var isNative: Bool { false }
    package func replacement(after error: WebImageError) throws(WebImageError) -> (any RegionSource)? { nil }
}

/// Indicates whether a read is still wanted and in time.
package struct RegionCheck: Sendable {
    private let isWanted: @Sendable () -> Bool
    package let deadline: DecodeDeadline?

    package init(_ deadline: DecodeDeadline?, isWanted: @escaping @Sendable () -> Bool) {
        self.deadline = deadline
        self.isWanted = isWanted
    }

    /// - Throws: ``WebImageError/Code/cancelled``, ``WebImageError/Code/decodeTimedOut``.
    package func callAsFunction() throws(WebImageError) {
        guard isWanted() else { throw .cancelled() }
        try deadline?.check()
    }
}

/// A coder that decodes regions of images itself.
package protocol RegionCoder: ImageCoder {
    /// Returns a source of the image's regions; nil if this image has to be decoded as a whole.
    ///
    /// - Parameters:
    ///   - bytes: The image.
    ///   - properties: Its properties.
    ///   - levels: The sizes of the levels, upright.
    func regions(
        of bytes: RegionBytes,
        properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions
    ) throws(WebImageError) -> (any RegionSource)?
}

/// A coder that decodes images row by row.
package protocol RowCoder: ImageCoder {
    /// Returns the rows of an image at full size, as stored; nil if the coder has the whole image in memory to return them.
    ///
    /// - Parameter data: Must be retained, unchanged, as long as the source is used.
    func rows(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> (any ScanlineSource)?
}

extension RegionOptions {
    /// Returns the upright image of a region that was decoded as stored.
    package func image(
        ofStored bitmap: Bitmap,
        _ properties: ImageProperties,
        level: Int
    ) throws(WebImageError) -> Image {
        let plan = DecodePlan(
            width: bitmap.width,
            height: bitmap.height,
            orientation: properties.orientation,
            isThumbnail: level > 0
        )
        return Image(
            bitmap: try bitmap.upright(from: properties.orientation),
            metadata: ImageAssembler.metadata(properties, plan, decoding),
            decodeOptions: decoding
        )
    }
}

extension PixelArea {
    /// The upright rectangle of an image's first rows as stored.
    init(firstStoredRows count: Int, from orientation: ImageOrientation, in size: RegionLevel) {
        switch orientation {
        case .up, .upMirrored: self.init(left: 0, top: 0, width: size.width, height: count)
        case .down, .downMirrored: self.init(left: 0, top: size.height - count, width: size.width, height: count)
        case .leftMirrored, .left: self.init(left: 0, top: 0, width: count, height: size.height)
        case .right, .rightMirrored: self.init(left: size.width - count, top: 0, width: count, height: size.height)
        }
    }

    /// Returns the rectangle as stored, before the orientation is applied.
    ///
    /// - Parameter size: The size of the upright image that this is a rectangle of.
    package func stored(from orientation: ImageOrientation, in size: RegionLevel) -> PixelArea {
        let (fromRight, fromBottom) = (size.width - right, size.height - bottom)
        switch orientation {
        case .up: return self
        case .upMirrored: return PixelArea(left: fromRight, top: top, width: width, height: height)
        case .down: return PixelArea(left: fromRight, top: fromBottom, width: width, height: height)
        case .downMirrored: return PixelArea(left: left, top: fromBottom, width: width, height: height)
        case .leftMirrored: return PixelArea(left: top, top: left, width: height, height: width)
        case .right: return PixelArea(left: top, top: fromRight, width: height, height: width)
        case .rightMirrored: return PixelArea(left: fromBottom, top: fromRight, width: height, height: width)
        case .left: return PixelArea(left: fromBottom, top: left, width: height, height: width)
        }
    }
}
