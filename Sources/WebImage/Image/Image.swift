public import FoundationEssentials

/// A decoded picture: pixels, scale, and what is known about where they came from.
///
/// Immutable and safe to use from any thread. It is a class because identity matters: the memory cache's weak level
/// finds the very image that a view still shows.
public final class Image: Sendable {
    /// The pixels.
    public let bitmap: Bitmap
    /// Pixels per point, at least 1; 2 for a picture whose name says `@2x`.
    public let scale: Double
    /// How the pixels of ``bitmap`` must be turned to be seen upright. `.up` for everything this library decodes, since
    /// its decoders apply the file's tag.
    public let orientation: ImageOrientation
    /// What is known besides the pixels.
    public let metadata: ImageMetadata
    /// The options it was decoded with; nil for an image that was not decoded.
    public let decodeOptions: ImageDecodeOptions?
    /// Bytes of the user's that are stored with the disk entry of this image.
    public let extendedData: Data?
    /// What the picture costs in a memory cache: the bytes of its rows, unless something else was given.
    public let memoryCost: Int

    /// An image of existing pixels.
    ///
    /// - Parameters:
    ///   - bitmap: the pixels.
    ///   - scale: pixels per point; below 1 counts as 1.
    ///   - orientation: how the pixels must be turned to be seen upright.
    ///   - metadata: what is known besides the pixels.
    ///   - decodeOptions: the options it was decoded with, if it was.
    ///   - extendedData: bytes that are stored with its disk entry.
    ///   - memoryCost: what it counts as in a memory cache, for pictures that hold more than their pixels, or share
    ///     them; less than 0 counts as 0. The bytes of its rows by default.
    public init(
        bitmap: Bitmap,
        scale: Double = 1,
        orientation: ImageOrientation = .up,
        metadata: ImageMetadata = ImageMetadata(),
        decodeOptions: ImageDecodeOptions? = nil,
        extendedData: Data? = nil,
        memoryCost: Int? = nil
    ) {
        self.bitmap = bitmap
        self.scale = scale.isFinite ? max(scale, 1) : 1
        self.orientation = orientation
        self.metadata = metadata
        self.decodeOptions = decodeOptions
        self.extendedData = extendedData
        self.memoryCost = memoryCost.map { max($0, 0) } ?? bitmap.bytesPerRow * bitmap.height
    }

    /// Width in pixels, as the bitmap is stored.
    public var pixelWidth: Int { bitmap.width }
    /// Height in pixels, as the bitmap is stored.
    public var pixelHeight: Int { bitmap.height }
    /// Size in points: upright pixels divided by ``scale``.
    public var size: ImageSize {
        let width = Double(bitmap.width) / scale
        let height = Double(bitmap.height) / scale
        return orientation.swapsSides
            ? ImageSize(width: height, height: width) : ImageSize(width: width, height: height)
    }
    /// The container the picture was decoded from.
    public var format: ImageFormat { metadata.format }
    /// Bytes of the pixels' rows.
    var pixelByteCount: Int { bitmap.bytesPerRow * bitmap.height }
    /// Whether pixels carry alpha.
    public var hasAlpha: Bool { bitmap.pixelFormat.hasAlpha }

    /// The same pixels, with other metadata, scale, extended data or memory cost; what is not given stays. Does not copy pixels.
    public func with(
        metadata: ImageMetadata? = nil,
        scale: Double? = nil,
        extendedData: Data?? = nil,
        memoryCost: Int? = nil
    ) -> Image {
        Image(
            bitmap: bitmap,
            scale: scale ?? self.scale,
            orientation: orientation,
            metadata: metadata ?? self.metadata,
            decodeOptions: decodeOptions,
            extendedData: extendedData ?? self.extendedData,
            memoryCost: memoryCost ?? self.memoryCost
        )
    }
}
