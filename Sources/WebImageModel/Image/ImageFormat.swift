/// The container format of encoded image data. Extensible: programs can define formats with raw values from 1000 on.
public struct ImageFormat: RawRepresentable, Sendable, Hashable {
    /// The number of the format; those up to 10 are SDWebImage's.
    public let rawValue: Int

    /// Creates a format from its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Not known.
    public static let undefined = ImageFormat(rawValue: -1)
    /// JPEG.
    public static let jpeg = ImageFormat(rawValue: 0)
    /// PNG, including APNG.
    public static let png = ImageFormat(rawValue: 1)
    /// GIF.
    public static let gif = ImageFormat(rawValue: 2)
    /// TIFF.
    public static let tiff = ImageFormat(rawValue: 3)
    /// WebP.
    public static let webp = ImageFormat(rawValue: 4)
    /// HEIF with HEVC images.
    public static let heic = ImageFormat(rawValue: 5)
    /// HEIF with images of another or an unnamed codec.
    public static let heif = ImageFormat(rawValue: 6)
    /// PDF.
    public static let pdf = ImageFormat(rawValue: 7)
    /// SVG.
    public static let svg = ImageFormat(rawValue: 8)
    /// Windows bitmap.
    public static let bmp = ImageFormat(rawValue: 9)
    /// A camera's raw format.
    public static let raw = ImageFormat(rawValue: 10)
    /// AVIF.
    public static let avif = ImageFormat(rawValue: 11)
    /// JPEG XL, bare codestream or container.
    public static let jpegXL = ImageFormat(rawValue: 12)
    /// Windows icon or cursor.
    public static let ico = ImageFormat(rawValue: 13)
    /// An MPEG-4 video, of which one frame is the image; also 3GP and fragmented MP4.
    public static let mp4 = ImageFormat(rawValue: 14)
    /// A QuickTime movie.
    public static let quickTime = ImageFormat(rawValue: 15)
    /// A WebM video.
    public static let webM = ImageFormat(rawValue: 16)
    /// A Matroska video.
    public static let matroska = ImageFormat(rawValue: 17)

    /// The video formats: ``mp4``, ``quickTime``, ``webM`` and ``matroska``. Of a video, one frame is decoded
    /// (``ImageDecodeOptions/videoTime``).
    public static let videos: Set<ImageFormat> = [.mp4, .quickTime, .webM, .matroska]

    /// Indicates whether files of the format are videos.
    package var isVideo: Bool { (Self.mp4.rawValue...Self.matroska.rawValue).contains(rawValue) }

    /// Indicates whether files of the format contain shapes instead of pixels.
    package var isVector: Bool { self == .svg || self == .pdf }

    /// Indicates whether the format's decoder checks time limits itself; the workers of others are killed.
    package var decoderChecksTime: Bool { !isVector && !isVideo }
}
