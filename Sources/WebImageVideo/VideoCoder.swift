public import FoundationEssentials
public import WebImageCodecs

/// Recognises videos: MP4, QuickTime, WebM and Matroska. Worker processes decode one frame of them with FFmpeg's libraries.
///
/// Builds of these libraries are usually GPL, so no program that uses this library links them, except the worker program `webimage-decoder-video`.
/// Install that program where stills of videos are shown. `WebImageFormats.registerAll()` registers
/// `IsolatedImageCoder(DecodeIsolation(formats: ImageFormat.videos), base: VideoCoder())`. Without the program, or without an `IsolatedImageCoder`
/// around this coder, each video fails with ``WebImage/WebImageError/Code/decoderUnavailable``.
///
/// ``WebImage/ImageDecodeOptions/videoTime`` selects the frame; by default it is the first that is not black. The file's rotation and pixel aspect
/// ratio are applied. Its colours are converted as those of still images are: high dynamic range (PQ and HLG) is tone-mapped, or kept with
/// ``WebImage/ImageDecodeOptions/decodeToHDR``. Alpha is ignored. ``WebImage/ImageProperties/videoDuration`` is set. Codecs: H.264, HEVC, AV1, VP9,
/// VP8, MPEG-4, MPEG-2, MPEG-1, H.263, Motion JPEG, ProRes and DNxHD; others are ``WebImage/WebImageError/Code/unsupportedFormat``. Encoding is not
/// supported.
public struct VideoCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data begins like a video.
    public func canDecode(_ data: Data) -> Bool { ImageFormat.videos.contains(ImageFormat(detecting: data)) }

    /// Throws ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        throw Self.unavailable
    }

    /// Throws ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        throw Self.unavailable
    }

    /// Throws ``WebImage/WebImageError/Code/decoderUnavailable``.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed { throw Self.unavailable }

    /// Returns false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImage/WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding videos is not supported")
    }

    private static let unavailable = WebImageError(
        .decoderUnavailable,
        "videos are decoded only in worker processes (WebImageFormats.registerAll(), IsolatedImageCoder), by the program webimage-decoder-video"
    )
}
