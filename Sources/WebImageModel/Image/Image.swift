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
    /// What the picture costs in a memory cache, in bytes: its rows, those of all frames if they were loaded, and the encoded
    /// animation that further frames are made of; unless something else was given.
    public let memoryCost: Int
    /// The frames, made when they are asked for; the image itself is the first of them. Nil for a still picture, and for an
    /// animation whose coder tells only that it is one.
    public let animation: AnimatedImage?

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
    ///     them; less than 0 counts as 0. By default what ``Image/memoryCost`` says.
    ///   - animation: the frames; left out when `metadata` tells of no more than one.
    public init(
        bitmap: Bitmap,
        scale: Double = 1,
        orientation: ImageOrientation = .up,
        metadata: ImageMetadata = ImageMetadata(),
        decodeOptions: ImageDecodeOptions? = nil,
        extendedData: Data? = nil,
        memoryCost: Int? = nil,
        animation: AnimatedImage? = nil
    ) {
        self.bitmap = bitmap
        self.scale = scale.isFinite ? max(scale, 1) : 1
        self.orientation = orientation
        self.metadata = metadata
        self.decodeOptions = decodeOptions
        self.extendedData = extendedData
        self.animation = metadata.isAnimated ? animation : nil
        let rows = bitmap.bytesPerRow * bitmap.height
        self.memoryCost = memoryCost.map { max($0, 0) } ?? self.animation.map { max($0.memoryCost, rows) } ?? rows
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
    package var pixelByteCount: Int { bitmap.bytesPerRow * bitmap.height }
    /// Whether pixels carry alpha.
    public var hasAlpha: Bool { bitmap.pixelFormat.hasAlpha }

    /// The same pixels, with other metadata, scale, extended data or memory cost; what is not given stays. Does not copy pixels.
    /// With metadata of a still picture there is no animation, nor does its cost stay.
    public func with(
        metadata: ImageMetadata? = nil,
        scale: Double? = nil,
        extendedData: Data?? = nil,
        memoryCost: Int? = nil
    ) -> Image {
        let losesAnimation = animation != nil && !(metadata ?? self.metadata).isAnimated
        return Image(
            bitmap: bitmap,
            scale: scale ?? self.scale,
            orientation: orientation,
            metadata: metadata ?? self.metadata,
            decodeOptions: decodeOptions,
            extendedData: extendedData ?? self.extendedData,
            memoryCost: memoryCost ?? (losesAnimation ? nil : self.memoryCost),
            animation: animation
        )
    }

    /// The same picture as one that moves.
    package func with(animation: AnimatedImage) -> Image {
        var metadata = metadata
        (metadata.frameCount, metadata.loopCount) = (animation.frameCount, animation.loopCount)
        return Image(
            bitmap: bitmap,
            scale: scale,
            orientation: orientation,
            metadata: metadata,
            decodeOptions: decodeOptions,
            extendedData: extendedData,
            animation: animation
        )
    }
}
