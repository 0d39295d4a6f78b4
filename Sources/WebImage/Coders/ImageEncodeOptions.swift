/// How an ``Image`` becomes encoded bytes.
public struct ImageEncodeOptions: Sendable, Hashable {
    /// A colour of 8-bit sRGB components, not premultiplied.
    public struct Color: Sendable, Hashable {
        /// Red, 0...255.
        public var red: UInt8
        /// Green, 0...255.
        public var green: UInt8
        /// Blue, 0...255.
        public var blue: UInt8

        /// A colour of three components.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// White.
        public static let white = Color(red: 255, green: 255, blue: 255)
    }

    /// Quality of lossy formats, 0...1, clamped; 1 by default. Lossless formats ignore it.
    public var compressionQuality: Double = 1
    /// The box, in pixels, that the encoded picture must fit into; nil for the image's size. Never makes it bigger.
    public var maxPixelSize: ImageSize?
    /// What transparent pixels are put on, in formats without alpha. White when nil.
    public var backgroundColor: Color?
    /// WebP, AVIF, HEIC and JPEG XL: encode without loss. False by default.
    public var isLossless: Bool = false
    /// Encode only the first frame of an animation.
    public var encodeFirstFrameOnly: Bool = false
    /// Options for coders of one's own.
    public var values = OptionValues()

    /// Best quality, full size.
    public init() {}
}
