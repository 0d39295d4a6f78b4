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
public struct VideoCoder: SeparateProgramCoder {
    /// Creates a coder.
    public init() {}

    package static let formats: Set<ImageFormat> = ImageFormat.videos
    package static let subject = "videos are"
    package static let program = "webimage-decoder-video"
}
