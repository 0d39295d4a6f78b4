/// The properties in a file's header, read without decoding pixels.
public struct ImageProperties: Sendable, Hashable {
    /// The container format.
    public var format: ImageFormat
    /// The width in pixels as stored, before the orientation is applied.
    public var width: Int
    /// The height in pixels as stored.
    public var height: Int
    /// The orientation tag.
    public var orientation: ImageOrientation = .up
    /// The number of frames in the file; 1 for a still image.
    public var frameCount: Int = 1
    /// The number of pages in the file; 1 for everything but PDF and multi-page TIFF. Size and other properties are those of the first
    /// page; ``ImageMetadata`` has the size of the page that was decoded.
    public var pageCount: Int = 1
    /// The duration of each frame in seconds; empty for a still image.
    public var frameDurations: [Double] = []
    /// The duration of a video in seconds; nil for other formats, and if the file does not tell.
    public var videoDuration: Double?
    /// The number of times an animation plays; 0 means forever. 0 for a still image.
    public var loopCount: Int = 0
    /// Indicates whether pixels can be transparent.
    public var hasAlpha: Bool = false
    /// The number of bits of each component in the file. 8 for formats and coders that do not report it.
    public var bitsPerComponent: Int = 8
    /// Indicates whether the file declares high dynamic range: its colours are encoded with PQ or HLG, for light brighter than
    /// reference white. TIFF does not declare it; see ``ImageMetadata/isHighDynamicRange`` of the decoded image.
    public var isHighDynamicRange: Bool = false
    /// The name of the embedded colour profile; nil without one.
    public var colorProfile: String?

    /// Creates the properties of an image of a format and size.
    public init(format: ImageFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// The size of the image as displayed, with the orientation applied.
    package var uprightSize: (width: Int, height: Int) {
        orientation.swapsSides ? (height, width) : (width, height)
    }

    /// Indicates whether the image has more than 8 bits per component or high dynamic range, and they can be decoded: frames of
    /// animated PNG are drawn on a canvas of 8 bits.
    package var isHighBitDepth: Bool {
        (bitsPerComponent > 8 || isHighDynamicRange) && !(format == .png && frameCount > 1)
    }
}
