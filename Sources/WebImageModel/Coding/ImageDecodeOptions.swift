/// How encoded bytes become an ``Image``.
public struct ImageDecodeOptions: Sendable, Hashable {
    /// How a picture is made smaller when a thumbnail is decoded.
    public enum ScalingQuality: Int, Sendable, Hashable {
        /// The decoder scales down as far as at least twice the wanted size (JPEG), then a Lanczos-3 filter.
        case high = 0
        /// The decoder scales down as far as at least the wanted size, then a box filter.
        case fast = 1
    }

    /// Decode only the first frame of an animation.
    public var decodeFirstFrameOnly: Bool = false
    /// Decode all frames of an animation at once and keep them, if they fit into ``ImageLimits/maximumDecodedByteCount``
    /// together. False by default: frames are decoded when they are asked for.
    public var preloadsAllFrames: Bool = false
    /// Refuse an animation whose frames cannot be had, instead of showing the first alone. False by default; still pictures
    /// are not concerned.
    public var requiresAnimation: Bool = false
    /// Pixels per point of the result; values below 1 count as 1. Pixels are not changed.
    public var scaleFactor: Double = 1
    /// With ``thumbnailPixelSize``: fit the picture into the box (true), or stretch it to exactly that size (false).
    public var preserveAspectRatio: Bool = true
    /// The box, in upright pixels, that the result must fit into; nil for full size. A picture that already fits is
    /// never made bigger.
    public var thumbnailPixelSize: ImageSize?
    /// With ``thumbnailPixelSize`` and ``preserveAspectRatio``: the picture becomes as small as still covers the box, so that it fills a view
    /// that cuts off what hangs over (true), instead of as big as fits into it (false, the default). No side becomes longer than it is.
    public var thumbnailCovers: Bool = false
    /// Most bytes of decoded pixels, counted as 4 per pixel over all frames; 0 for no limit. A bigger picture is scaled
    /// down to it, its aspect ratio kept; so is a thumbnail that would be bigger.
    public var scaleDownLimitBytes: Int = 0
    /// How pictures are made smaller. Lanczos by default.
    public var scalingQuality: ScalingQuality = .high
    /// The layout of the result; nil lets the decoder choose packed RGB for opaque pictures and BGRA for others.
    /// A picture with alpha is never forced into a format without.
    public var pixelFormat: PixelFormat?
    /// The format the data is said to have, for coders of formats whose bytes do not tell; the built-in coders believe
    /// the bytes alone.
    public var formatHint: ImageFormat?
    /// Whether a picture of more than 8 bits per component keeps them, and one of high dynamic range its range: PNG of 16 bits, TIFF, AVIF,
    /// HEIF and JPEG XL become ``PixelFormat/rgbaHalfPremultiplied`` then. Pictures of 8 bits stay as they are, so do the
    /// frames of animated PNG; and a
    /// ``pixelFormat`` of 8 bits wins. False by default: bits are rounded to 8, and high dynamic range is tone-mapped into sRGB.
    public var decodeToHDR: Bool = false
    /// Whether damaged data is an error (``WebImageError/Code/badImageData``) also where most of the picture can be seen. False by default:
    /// what is damaged of a JPEG is painted over, as browsers and Pillow do, and the image tells it (``ImageMetadata/isDamaged``). Data that
    /// ends too early, and damage in other formats, is always an error.
    public var refusesDamagedData: Bool = false
    /// Whether what has more than 8 bits stays so.
    package var keepsWidePixels: Bool {
        decodeToHDR && (pixelFormat == nil || pixelFormat == .rgbaHalfPremultiplied)
    }
    /// Options for coders of one's own.
    public var values = OptionValues()
    /// What is refused.
    public var limits: ImageLimits = ImageLimits()

    /// Full size, all frames.
    public init() {}

    /// The byte limit that `scaleDownLargeImages` stands for, in bytes of decoded pixels: 60 MiB unless the program sets
    /// another. Holds for loads that begin afterwards; values below 4, a pixel, are ignored. For any thread.
    public static var defaultScaleDownLimitBytes: Int {
        get { scaleDownLimit.withLock { $0 } }
        set { if newValue >= 4 { scaleDownLimit.withLock { $0 = newValue } } }
    }
    private static let scaleDownLimit = Lock(60 << 20)

    /// Whether a thumbnail size is asked for.
    public var isThumbnail: Bool { thumbnailPixelSize?.isUsable ?? false }
}
