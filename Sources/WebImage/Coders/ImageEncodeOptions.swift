/// How an ``Image`` becomes encoded bytes.
public struct ImageEncodeOptions: Sendable, Hashable {
    /// Quality of lossy formats, 0...1, clamped; 1 by default. Lossless formats ignore it.
    public var compressionQuality: Double = 1
    /// The box, in pixels, that the encoded picture must fit into; nil for the image's size. Never makes it bigger.
    public var maxPixelSize: ImageSize?
    /// What transparent pixels are put on, in formats without alpha; its own alpha is not looked at. White when nil.
    public var backgroundColor: ImageColor?
    /// WebP only: encode without loss. False by default.
    public var isLossless: Bool = false
    /// Encode only the first frame of an animation.
    public var encodeFirstFrameOnly: Bool = false
    /// Options for coders of one's own.
    public var values = OptionValues()

    /// Best quality, full size.
    public init() {}
}
