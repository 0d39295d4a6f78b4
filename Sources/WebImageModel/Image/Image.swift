public import FoundationEssentials

/// A decoded image: pixels, scale, and metadata.
///
/// Immutable and safe to use from any thread. It is a class because identity matters: the memory cache's weak level finds the same
/// instance that a view still shows.
public final class Image: Sendable {
    /// The pixels.
    public let bitmap: Bitmap
    /// The number of pixels per point, at least 1; 2 for an image whose name contains `@2x`.
    public let scale: Double
    /// The rotation or mirroring that shows the pixels of ``bitmap`` upright. `.up` for everything this library decodes, since its
    /// decoders apply the file's tag.
    public let orientation: ImageOrientation
    /// The metadata.
    public let metadata: ImageMetadata
    /// The options it was decoded with; nil for an image that was not decoded.
    public let decodeOptions: ImageDecodeOptions?
    /// User data that is stored with the disk entry of this image.
    public let extendedData: Data?
    /// The cost of the image in a memory cache, in bytes: its rows, those of all frames if they were loaded, and the encoded
    /// animation that further frames are decoded from; unless the initializer was given another cost.
    public let memoryCost: Int
    /// The frames, decoded on demand; the image itself is the first of them. Nil for a still image, and for an animation whose
    /// coder only reports that it is one.
    public let animation: AnimatedImage?

    /// Creates an image from existing pixels.
    ///
    /// - Parameters:
    ///   - bitmap: the pixels.
    ///   - scale: the number of pixels per point; below 1 counts as 1.
    ///   - orientation: the rotation or mirroring that shows the pixels upright.
    ///   - metadata: the metadata.
    ///   - decodeOptions: the options it was decoded with, if it was.
    ///   - extendedData: user data that is stored with its disk entry.
    ///   - memoryCost: the cost in a memory cache, for images that hold more than their pixels, or share them; less than 0 counts
    ///     as 0. By default as described for ``Image/memoryCost``.
    ///   - animation: the frames; ignored if `metadata` has only one.
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

    /// The width in pixels, as the bitmap is stored.
    public var pixelWidth: Int { bitmap.width }
    /// The height in pixels, as the bitmap is stored.
    public var pixelHeight: Int { bitmap.height }
    /// The size in points: upright pixels divided by ``scale``.
    public var size: ImageSize {
        let width = Double(bitmap.width) / scale
        let height = Double(bitmap.height) / scale
        return orientation.swapsSides
            ? ImageSize(width: height, height: width) : ImageSize(width: width, height: height)
    }
    /// The container format the image was decoded from.
    public var format: ImageFormat { metadata.format }
    /// The number of bytes of the pixels' rows.
    package var pixelByteCount: Int { bitmap.bytesPerRow * bitmap.height }
    /// Indicates whether pixels have alpha.
    public var hasAlpha: Bool { bitmap.pixelFormat.hasAlpha }

    /// Returns the same pixels with other metadata, scale, extended data or memory cost; arguments that are left out keep their
    /// value. Does not copy pixels. With metadata of a still image, the animation and its cost are dropped.
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

    /// Returns the same image with the frames of an animation.
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
