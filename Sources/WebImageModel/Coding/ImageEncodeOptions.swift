/// How an ``Image`` becomes encoded bytes.
public struct ImageEncodeOptions: Sendable, Hashable {
    /// Quality of lossy formats, 0...1, clamped; 1 by default. Lossless formats ignore it; so does GIF, which always gets as many
    /// colours as it can hold.
    public var compressionQuality: Double = 1
    /// The box, in pixels, that the encoded picture must fit into; nil for the image's size. Never makes it bigger.
    public var maxPixelSize: ImageSize?
    /// What transparent pixels are put on, in formats without alpha; its own alpha is not looked at. White when nil. Formats with alpha
    /// (PNG, WebP, AVIF, HEIC, JPEG XL, TIFF) keep it and ignore this.
    ///
    /// In GIF a pixel is transparent or not: one that is at least half opaque is put on this colour (or keeps its own when nil),
    /// any other becomes transparent.
    public var backgroundColor: ImageColor?
    /// WebP, AVIF, HEIC and JPEG XL: encode without loss. False by default.
    public var isLossless: Bool = false
    /// Encode only the first frame of an animation.
    public var encodeFirstFrameOnly: Bool = false
    /// How often the animation plays, 0 is for ever; nil for as often as it does already. Still pictures ignore it. Formats hold up to 65 535 times
    /// (PNG 2 147 483 647), and get their highest number for more.
    public var loopCount: Int?
    /// Most bytes of the result; 0 for no limit.
    ///
    /// Takes the place of ``compressionQuality``: the best quality that fits is searched for, in at most eight encodings. In GIF
    /// it is the number of colours, down to 2. Where the smallest result is too big, and for lossless formats where there is
    /// nothing to search, encoding fails with ``WebImageError/Code/limitExceeded`` naming `maxFileSize`, with the bytes needed;
    /// it never gives more bytes than were allowed.
    public var maxFileSize: Int = 0
    /// Put a small copy of the picture into the file, of at most 160 by 160 pixels: in JPEG into the EXIF block, in HEIC as a
    /// picture of its own that is marked as the thumbnail. Other formats have no customary place for one and ignore this. False by
    /// default.
    public var encodeEmbedThumbnail: Bool = false
    /// When all frames of an animation must have been decoded and encoded; nil, the default, for no limit.
    package var deadline: EncodeDeadline?
    /// Options for coders of one's own.
    public var values = OptionValues()

    /// Best quality, full size.
    public init() {}
}

/// When the frames of an animation must be encoded, however often that is tried to find the best quality of a size.
package struct EncodeDeadline: Sendable, Hashable {
    /// The time that there was, in seconds.
    package let seconds: Double
    /// The end, on the monotonic clock.
    private let nanoseconds: UInt64

    /// Counts from now.
    package init(seconds: Double) {
        self.seconds = seconds
        nanoseconds = ClockSource.system.monotonicNanoseconds() + UInt64(min(max(seconds, 0), 1e9) * 1e9)
    }

    /// - Throws: ``WebImageError/Code/decodeTimedOut`` once the time is over.
    package func check() throws(WebImageError) {
        guard ClockSource.system.monotonicNanoseconds() < nanoseconds else {
            throw WebImageError(.decodeTimedOut, "the animation was not converted within \(seconds) s")
        }
    }
}
