import CVideoShims
import FoundationEssentials
import WebImageCodecs

/// A video that FFmpeg's libraries have opened, and the frame that was decoded. For one thread.
final class VideoFile {
    /// The file's bytes, for C.
    private final class Reader {
        let source: any ImageByteSource
        /// The first error, which the libraries do not report.
        var error: WebImageError?

        init(_ source: any ImageByteSource) { self.source = source }

        func read(at offset: Int64, into buffer: UnsafeMutableRawPointer, count: Int) -> Int {
            do throws(WebImageError) {
                return try source.read(
                    at: Int(offset),
                    into: UnsafeMutableRawBufferPointer(start: buffer, count: count)
                )
            } catch {
                self.error = error
                return -1
            }
        }
    }

    private let reader: Reader
    private let handle: OpaquePointer
    private let format: ImageFormat

    /// The most extreme shape of a pixel that is believed.
    private static let aspects = 0.05...20.0

    /// Opens a video.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/outOfMemory``.
    init(_ source: any ImageByteSource, limits: ImageLimits) throws(WebImageError) {
        let reader = Reader(source)
        format = try Self.format(of: source)
        var description = webimage_video_source()
        description.read = { context, offset, buffer, count in
            guard let context, let buffer else { return -1 }
            return Unmanaged<Reader>.fromOpaque(context).takeUnretainedValue().read(
                at: offset,
                into: buffer,
                count: count
            )
        }
        description.context = Unmanaged.passUnretained(reader).toOpaque()
        description.byte_count = Int64(source.byteCount)
        description.container =
            format == .webM || format == .matroska ? webimage_video_matroska : webimage_video_iso_media
        description.most_pixels = Int64(limits.maximumPixelCount)
        var problem = webimage_video_none
        var message = [CChar](repeating: 0, count: 256)
        guard let handle = webimage_video_open(&description, &problem, &message, message.count) else {
            throw reader.error ?? Self.error(problem, message, limits)
        }
        (self.reader, self.handle) = (reader, handle)
    }

    deinit { webimage_video_close(handle) }

    /// A worker's source has no first bytes: they are read like all others.
    private static func format(of source: any ImageByteSource) throws(WebImageError) -> ImageFormat {
        let own = source.beginning
        let beginning = own.isEmpty ? try source.read(at: 0, count: min(source.byteCount, 4 << 10)) : own
        let format = ImageFormat(detecting: beginning)
        guard format.isVideo else { throw WebImageError(.badImageData, "the data is not a video of a known format") }
        return format
    }

    /// Returns the size and other properties: those of the decoded frame, or before that, those that the container declares.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for a video without a size.
    func properties() throws(WebImageError) -> ImageProperties {
        let info = webimage_video_info(handle)
        guard info.width > 0, info.height > 0 else { throw WebImageError(.badImageData, "the video has no size") }
        let aspect = Self.aspects.contains(info.pixel_aspect) ? info.pixel_aspect : 1
        let width = max(Int((Double(info.width) * aspect).rounded()), 1)
        var properties = ImageProperties(format: format, width: width, height: Int(info.height))
        properties.orientation = ImageOrientation(exif: Int(info.orientation))
        properties.bitsPerComponent = min(max(Int(info.bits_per_component), 1), 16)
        properties.isHighDynamicRange = color.isHighDynamicRange
        properties.colorProfile = color.name
        properties.videoDuration = info.duration > 0 && info.duration.isFinite ? info.duration : nil
        return properties
    }

    var color: SourceColor {
        let info = webimage_video_info(handle)
        return SourceColor(primaries: Int(info.primaries), transferCharacteristics: Int(info.transfer))
    }

    /// Indicates whether a part of the decoded frame was damaged.
    var isDamaged: Bool { webimage_video_info(handle).is_damaged }

    /// Decodes a frame; by default the first that is not black.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func decode(at seconds: Double?, _ limits: ImageLimits) throws(WebImageError) {
        var message = [CChar](repeating: 0, count: 256)
        let problem = webimage_video_decode(handle, seconds ?? -1, &message, message.count)
        guard problem == webimage_video_none else { throw reader.error ?? Self.error(problem, message, limits) }
    }

    /// Converts the decoded frame to RGB.
    func convert(
        to pixels: UnsafeMutableRawPointer,
        width: Int,
        height: Int,
        isDeep: Bool,
        bytesPerRow: Int
    ) throws(WebImageError) {
        var message = [CChar](repeating: 0, count: 256)
        let problem = webimage_video_convert(
            handle,
            Int32(clamping: width),
            Int32(clamping: height),
            isDeep,
            pixels,
            bytesPerRow,
            &message,
            message.count
        )
        guard problem == webimage_video_none else { throw Self.error(problem, message, ImageLimits()) }
    }

    private static func error(_ problem: webimage_video_problem, _ message: [CChar], _ limits: ImageLimits)
        -> WebImageError
    {
        let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return switch problem {
        case webimage_video_unsupported: WebImageError(.unsupportedFormat, "the video cannot be decoded: \(text)")
        case webimage_video_no_memory: WebImageError(.outOfMemory, "no memory to decode a frame of the video")
        case webimage_video_too_large:
            .limitExceeded("maximumPixelCount", allowed: limits.maximumPixelCount, required: Int(text) ?? .max)
        default: WebImageError(.badImageData, "the video is damaged: \(text)")
        }
    }
}
