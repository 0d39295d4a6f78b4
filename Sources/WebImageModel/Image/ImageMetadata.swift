/// What is known about a picture besides its pixels.
public struct ImageMetadata: Sendable, Hashable {
    /// The container the picture was decoded from; `.undefined` for a picture that was never encoded.
    public var format: ImageFormat = .undefined
    /// Width of the picture in the file, in pixels as stored (before the orientation is applied); 0 if unknown.
    public var sourceWidth: Int = 0
    /// Height of the picture in the file, in pixels as stored; 0 if unknown.
    public var sourceHeight: Int = 0
    /// The orientation tag found in the file. Decoders of this library have already applied it to the bitmap.
    public var sourceOrientation: ImageOrientation = .up
    /// Number of frames in the file; 1 for a still picture, and for the first frame alone.
    public var frameCount: Int = 1
    /// How often an animation plays; 0 is for ever.
    public var loopCount: Int = 0
    /// The name of the embedded colour profile, nil without one. The pixels have been converted to sRGB.
    public var colorProfile: String?
    /// Whether the pixels are a preview of a picture that is still arriving.
    public var isIncremental: Bool = false
    /// Whether a transformer made the pixels.
    public var isTransformed: Bool = false
    /// Whether the pixels were decoded below full size because a thumbnail size was asked for.
    public var isThumbnail: Bool = false
    /// The ``ImageDecodeOptions/scaleDownLimitBytes`` that made the pixels fewer than the file's; 0 if none did.
    public var scaleDownLimitBytes: Int = 0
    /// Whether the file describes shapes and no pixels, as SVG does. Transformers leave such an image alone unless told otherwise.
    public var isVector: Bool = false
    /// Whether the pixels are the first frame of an animation of which nothing else was wanted; see
    /// ``ImageDecodeOptions/decodeFirstFrameOnly``. Such an image is a still picture and does not stand in for the animation.
    public var isFirstFrame: Bool = false
    /// Whether the pixels go beyond the range of sRGB: those of a picture coded by PQ or HLG that was decoded with
    /// ``ImageDecodeOptions/decodeToHDR``.
    public var isHighDynamicRange: Bool = false
    /// Whether pixels were made up, because the encoded data is damaged. Told for JPEG, as far as the decoder sees it; other formats are
    /// refused then, and so is data that ends too early. See ``ImageDecodeOptions/refusesDamagedData``.
    public var isDamaged: Bool = false
    /// The XXH3 of the bytes as they were loaded that the picture was made of, also by way of transformers; 0 if unknown.
    package var sourceHash: UInt64 = 0
    /// What the code that loaded the image keeps with it. Copies share it.
    package var attachment = Uncompared<(any AnyObject & Sendable)?>(value: nil)

    /// Metadata with every property at its default.
    public init() {}

    /// Whether there is more than one frame.
    public var isAnimated: Bool { frameCount > 1 }
}
