extension Image {
    /// Returns the image mirrored. Opaque images stay opaque.
    ///
    /// - Parameters:
    ///   - horizontally: left becomes right.
    ///   - vertically: top becomes bottom.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public func flipped(horizontally: Bool, vertically: Bool) throws(WebImageError) -> Image {
        let turn: ImageOrientation =
            switch (horizontally, vertically) {
            case (false, false): .up
            case (true, false): .upMirrored
            case (false, true): .downMirrored
            case (true, true): .down
            }
        return replacing(try uprightBitmap().upright(from: turn))
    }
}

/// Mirrors an image; see ``Image/flipped(horizontally:vertically:)``.
public struct FlippingTransformer: ImageTransformer {
    /// A Boolean value that indicates whether left becomes right.
    public let horizontal: Bool
    /// A Boolean value that indicates whether top becomes bottom.
    public let vertical: Bool
    /// A Boolean value that indicates whether metadata is copied to the result. The default is true.
    public var preservesImageMetadata = true

    /// Creates a transformer that mirrors.
    ///
    /// - Parameters:
    ///   - horizontal: left becomes right.
    ///   - vertical: top becomes bottom.
    public init(horizontal: Bool, vertical: Bool) {
        self.horizontal = horizontal
        self.vertical = vertical
    }

    /// `SDImageFlippingTransformer(horizontal,vertical)` with 0 or 1 for each.
    public var transformerKey: String {
        "SDImageFlippingTransformer(\(horizontal ? 1 : 0),\(vertical ? 1 : 0))"
    }

    /// True.
    public var isSizeCovariant: Bool { true }

    /// Returns the mirrored image.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        handingOut(try image.flipped(horizontally: horizontal, vertically: vertical))
    }

    /// Returns the memory cost: the result, and a copy of pixels that are not upright.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        TransformMemoryNeed(output: input.making(), workingByteCount: input.uprightByteCount)
    }
}
