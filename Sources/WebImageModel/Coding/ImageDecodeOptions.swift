/// Options for decoding encoded bytes into an ``Image``.
public struct ImageDecodeOptions: Sendable, Hashable {
    /// The algorithm that scales an image down for a thumbnail.
    public enum ScalingQuality: Int, Sendable, Hashable {
        /// The decoder scales down to at least twice the wanted size (JPEG), then a Lanczos-3 filter.
        case high = 0
        /// The decoder scales down to at least the wanted size, then a box filter.
        case fast = 1
    }

    /// The image that is decoded of a camera's raw file.
    public enum RawDevelopment: Int, Sendable, Hashable {
        /// The preview that the camera has stored in the file: the smallest one that is at least as large as the thumbnail, or the
        /// largest. Fast, and it looks as the camera showed it. It may be smaller than the sensor's image.
        case preview = 0
        /// The sensor's image, developed from the raw data. Takes seconds and, for 24 megapixels, 350 MiB; a thumbnail of at most
        /// half the size takes a fifth of the time.
        case full = 1
    }

    /// Decode only the first frame of an animation.
    public var decodeFirstFrameOnly: Bool = false
    /// Decode all frames of an animation at once and keep them, if they fit into ``ImageLimits/maximumDecodedByteCount`` together.
    /// False by default: frames are decoded on demand.
    package var preloadsAllFrames: Bool = false
    /// Fail if the frames of an animation are not available, instead of showing only the first. False by default; still images are
    /// not affected.
    package var requiresAnimation: Bool = false
    /// The number of pixels per point of the result; values below 1 count as 1. Pixels are not changed.
    public var scaleFactor: Double = 1
    /// With ``thumbnailPixelSize``: fit the image into the box (true), or stretch it to exactly that size (false).
    public var preserveAspectRatio: Bool = true
    /// The box, in upright pixels, that the result must fit into; nil for full size. An image that already fits is never enlarged.
    public var thumbnailPixelSize: ImageSize?
    /// With ``thumbnailPixelSize`` and ``preserveAspectRatio``: scale the image to the smallest size that covers the box, for a
    /// view that crops the excess (true), instead of the largest that fits into it (false, the default). No side becomes longer
    /// than it is.
    public var thumbnailCovers: Bool = false
    /// The maximum number of bytes of decoded pixels, counted as 4 per pixel over all frames; 0 for no limit. A bigger image is
    /// scaled down to it, its aspect ratio kept; so is a thumbnail that would be bigger.
    public var scaleDownLimitBytes: Int = 0
    /// The quality of scaling down. Lanczos by default.
    public var scalingQuality: ScalingQuality = .high
    /// The layout of the result; nil lets the decoder choose packed RGB for opaque images and BGRA for others. An image with alpha
    /// is never forced into a format without.
    public var pixelFormat: PixelFormat?
    /// The declared format of the data, for coders of formats that cannot be detected from the bytes; the built-in coders trust
    /// only the bytes.
    public var formatHint: ImageFormat?
    /// Keep more than 8 bits per component, and high dynamic range: PNG of 16 bits, TIFF, AVIF, HEIF and JPEG XL then become
    /// ``PixelFormat/rgbaHalfPremultiplied``. Images of 8 bits stay as they are, so do the frames of animated PNG; and a
    /// ``pixelFormat`` of 8 bits wins. False by default: bits are rounded to 8, and high dynamic range is tone-mapped into sRGB.
    public var decodeToHDR: Bool = false
    /// Treat damaged data as an error (``WebImageError/Code/badImageData``) even if most of the image can be decoded. False by
    /// default: damaged parts of a JPEG are filled, as browsers and Pillow do, and the image is marked
    /// (``ImageMetadata/isDamaged``). Data that ends too early, and damage in other formats, is always an error.
    public var refusesDamagedData: Bool = false
    /// Indicates whether more than 8 bits per component are kept.
    package var keepsHighBitDepth: Bool {
        decodeToHDR && (pixelFormat == nil || pixelFormat == .rgbaHalfPremultiplied)
    }
    /// The page to decode, counted from 0; the first by default. Only PDF has pages to choose from: of TIFF the first is decoded, and
    /// other formats have one. Another page is ``WebImageError/Code/pageNotFound``.
    public var page: Int = 0
    /// The image that is decoded of a camera's raw file: the embedded preview by default. Without one, decoding fails with
    /// ``WebImageError/Code/previewNotFound``, and only ``RawDevelopment/full`` decodes the file. Ignored for other formats.
    public var rawDevelopment: RawDevelopment = .preview
    /// The time in seconds of the frame to decode of a video: the frame that is shown then, or the last one if the video ends before. Nil, the
    /// default, for the first frame that is not black (of the first frame and the keyframes of the first minute). Negative times count as 0,
    /// times that are not finite as nil. Other formats ignore it.
    public var videoTime: Double? {
        didSet { videoTime = videoTime.flatMap { $0.isFinite ? max($0, 0) : nil } }
    }
    /// Options for custom coders.
    public var values = OptionValues()
    /// The limits; data that exceeds them is refused.
    public var limits: ImageLimits = ImageLimits()

    /// Creates the default options: full size, all frames.
    public init() {}

    /// The byte limit of `scaleDownLargeImages`, in bytes of decoded pixels: 60 MiB unless the program sets another. Applies to
    /// loads that begin afterwards; values below 4, one pixel, are ignored. For any thread.
    public static var defaultScaleDownLimitBytes: Int {
        get { scaleDownLimit.withLock { $0 } }
        set { if newValue >= 4 { scaleDownLimit.withLock { $0 = newValue } } }
    }
    private static let scaleDownLimit = Lock(60 << 20)

    /// Indicates whether a thumbnail size is set.
    package var isThumbnail: Bool { thumbnailPixelSize?.isUsable ?? false }
}
