/// Options for encoding an ``Image``.
public struct ImageEncodeOptions: Sendable, Hashable {
    /// The quality of lossy formats, 0...1, clamped; 1 by default. Lossless formats ignore it; so does GIF, which always gets as
    /// many colours as it can hold.
    public var compressionQuality: Double = 1
    /// The box, in pixels, that the encoded image must fit into; nil for the image's size. Never enlarges it.
    public var maxPixelSize: ImageSize?
    /// The colour that transparent pixels are blended onto, in formats without alpha; its own alpha is ignored. White if nil.
    /// Formats with alpha (PNG, WebP, BMP, AVIF, HEIC, JPEG XL, TIFF) keep it and ignore this.
    ///
    /// In GIF a pixel is either transparent or not: one that is at least half opaque is blended onto this colour (or keeps its own
    /// if nil), any other becomes transparent.
    public var backgroundColor: ImageColor?
    /// WebP, AVIF, HEIC and JPEG XL: encode without loss. False by default.
    public var isLossless: Bool = false
    /// Encode only the first frame of an animation.
    public var encodeFirstFrameOnly: Bool = false
    /// The number of times the animation plays, 0 for forever; nil for the animation's own number. Still images ignore it. Formats
    /// hold up to 65 535 (PNG 2 147 483 647), and get their highest number for more.
    public var loopCount: Int?
    /// The maximum number of bytes of the result; 0 for no limit.
    ///
    /// Replaces ``compressionQuality``: the best quality that fits is searched for, in at most eight encodings. In GIF it is the
    /// number of colours, down to 2. If the smallest result is too big, and for lossless formats where there is nothing to search,
    /// encoding fails with ``WebImageError/Code/limitExceeded`` naming `maxFileSize`, with the bytes needed; the result is never
    /// bigger than allowed.
    public var maxFileSize: Int = 0
    /// Embed a small copy of the image in the file, of at most 160 by 160 pixels: in JPEG in the EXIF block, in HEIC as a separate
    /// image that is marked as the thumbnail. Other formats have no customary place for one and ignore this. False by default.
    public var encodeEmbedThumbnail: Bool = false
    /// The deadline for decoding and encoding all frames of an animation; nil, the default, for none.
    package var deadline: EncodeDeadline?
    /// Options for custom coders.
    public var values = OptionValues()

    /// Creates the default options: best quality, full size.
    public init() {}
}

/// The deadline for encoding an animation, including all attempts to find the best quality for a file size.
package struct EncodeDeadline: Sendable, Hashable {
    /// The time limit, in seconds.
    package let seconds: Double
    /// The end, on the monotonic clock.
    private let nanoseconds: UInt64

    /// Starts counting now.
    package init(seconds: Double) {
        self.seconds = seconds
        nanoseconds = ClockSource.system.monotonicNanoseconds() + UInt64(min(max(seconds, 0), 1e9) * 1e9)
    }

    /// - Throws: ``WebImageError/Code/decodeTimedOut`` after the deadline.
    package func check() throws(WebImageError) {
        guard ClockSource.system.monotonicNanoseconds() < nanoseconds else {
            throw WebImageError(.decodeTimedOut, "the animation was not converted within \(seconds) s")
        }
    }
}
