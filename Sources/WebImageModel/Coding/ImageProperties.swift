/// What a file's header says, without decoding pixels.
public struct ImageProperties: Sendable, Hashable {
    /// The container.
    public var format: ImageFormat
    /// Width in pixels as stored, before the orientation is applied.
    public var width: Int
    /// Height in pixels as stored.
    public var height: Int
    /// The orientation tag.
    public var orientation: ImageOrientation = .up
    /// Frames in the file, 1 for a still picture.
    public var frameCount: Int = 1
    /// Pages in the file, of which the first is decoded; 1 for everything but a TIFF of several.
    public var pageCount: Int = 1
    /// How long each frame is shown, in seconds; empty for a still picture.
    public var frameDurations: [Double] = []
    /// How often an animation plays; 0 is for ever. 0 for a still picture.
    public var loopCount: Int = 0
    /// Whether pixels can be transparent.
    public var hasAlpha: Bool = false
    /// Bits of each component in the file. 8 for formats and coders that do not tell.
    public var bitsPerComponent: Int = 8
    /// Whether the file says that it holds light brighter than reference white: its colours are coded by PQ or HLG. TIFF does not say
    /// it; see ``ImageMetadata/isHighDynamicRange`` of what is decoded.
    public var isHighDynamicRange: Bool = false
    /// The name of the embedded colour profile, nil without one.
    public var colorProfile: String?

    /// Properties of a picture of a format and size.
    public init(format: ImageFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// The size as the picture is shown, the orientation applied.
    package var uprightSize: (width: Int, height: Int) {
        orientation.swapsSides ? (height, width) : (width, height)
    }

    /// Whether the file holds more than 8 bits of each component can, and they can be had: frames of animated PNG are drawn on a canvas
    /// of 8 bits.
    package var isWide: Bool { (bitsPerComponent > 8 || isHighDynamicRange) && !(format == .png && frameCount > 1) }
}
