/// The metadata of an image.
public struct ImageMetadata: Sendable, Hashable {
    /// The container format the image was decoded from; `.undefined` for an image that was never encoded.
    public var format: ImageFormat = .undefined
    /// The width of the image in the file, in pixels as stored (before the orientation is applied); 0 if unknown.
    public var sourceWidth: Int = 0
    /// The height of the image in the file, in pixels as stored; 0 if unknown.
    public var sourceHeight: Int = 0
    /// The orientation tag found in the file. Decoders of this library have already applied it to the bitmap.
    package var sourceOrientation: ImageOrientation = .up
    /// The number of frames in the file; 1 for a still image, and if only the first frame was decoded.
    public var frameCount: Int = 1
    /// The number of pages in the file, of which one was decoded (``ImageDecodeOptions/page``); 1 for formats without pages.
    /// Thumbnails and pages other than the first are stored on disk as PNG, so it is 1 if they were read from there;
    /// ``ImageProperties/pageCount`` of the file is always right.
    public var pageCount: Int = 1
    /// The number of times an animation plays; 0 means forever.
    public var loopCount: Int = 0
    /// The name of the embedded colour profile; nil without one. The pixels have been converted to sRGB.
    package var colorProfile: String?
    /// Indicates whether the pixels are a preview of an image that is still being loaded.
    public var isIncremental: Bool = false
    /// Indicates whether a transformer made the pixels.
    public var isTransformed: Bool = false
    /// Indicates whether the pixels were decoded below full size because a thumbnail was requested.
    public var isThumbnail: Bool = false
    /// The ``ImageDecodeOptions/scaleDownLimitBytes`` that reduced the number of pixels; 0 if none did.
    public var scaleDownLimitBytes: Int = 0
    /// Indicates whether the file contains shapes instead of pixels, as SVG and PDF do. Transformers leave such an image unchanged
    /// unless told otherwise.
    public var isVector: Bool = false
    /// Indicates whether the pixels are the first frame of an animation of which only that frame was requested; see
    /// ``ImageDecodeOptions/decodeFirstFrameOnly``. Such an image is a still image and does not replace the animation.
    package var isFirstFrame: Bool = false
    /// Indicates whether the pixels exceed the range of sRGB: those of an image encoded with PQ or HLG that was decoded with
    /// ``ImageDecodeOptions/decodeToHDR``.
    public var isHighDynamicRange: Bool = false
    /// Indicates whether some pixels were filled in because the encoded data is damaged. Set for JPEG, as far as the decoder
    /// detects it; other formats are refused then, and so is data that ends too early. See
    /// ``ImageDecodeOptions/refusesDamagedData``.
    public var isDamaged: Bool = false
    /// The XXH3 of the loaded bytes that the image was made from, also through transformers; 0 if unknown, as after a load without caches.
    package var sourceHash: UInt64 = 0
    /// An object that the loading code keeps with the image. Copies share it.
    package var attachment = IgnoredInEquality<(any AnyObject & Sendable)?>(value: nil)

    /// Creates metadata with every property at its default.
    public init() {}

    /// Indicates whether there is more than one frame.
    public var isAnimated: Bool { frameCount > 1 }
}
