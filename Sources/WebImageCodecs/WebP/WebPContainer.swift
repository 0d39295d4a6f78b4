import CWebP
import FoundationEssentials

/// The contents of a WebP file's chunks.
package struct WebPContainer: Sendable {
    /// The place of a frame on the canvas, and its bytes in the file.
    struct Frame: Sendable, Hashable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
        var hasAlpha: Bool
        /// A Boolean value that indicates whether the image is lossless, and so decoded as a whole at full size.
        var isLossless: Bool
        /// The duration in seconds, corrected.
        var duration: Double
        /// A Boolean value that indicates whether the rectangle becomes transparent at the end of the duration.
        var disposesToBackground: Bool
        /// A Boolean value that indicates whether transparent pixels also replace those below.
        var replaces: Bool
        var bytes: Range<Int>
    }

    private(set) var width = 0
    private(set) var height = 0
    private(set) var first: Frame
    private(set) var durations: [Double] = []
    /// All frames, if requested.
    private(set) var frames: [Frame] = []
    private(set) var frameCount = 0
    /// The loop count of an animation; 0 means infinite.
    private(set) var loopCount = 0
    private(set) var colorProfile: Data?
    private(set) var orientation = ImageOrientation.up

    /// A Boolean value that indicates whether any pixel of the first frame's canvas may be transparent.
    var hasAlpha: Bool { first.hasAlpha || !firstCoversCanvas }
    var firstCoversCanvas: Bool { first.x == 0 && first.y == 0 && first.width == width && first.height == height }

    /// Reads the chunks, and the durations of at most as many frames as the limits allow.
    ///
    /// - Parameters:
    ///   - wantsFrames: also read the place of each of those frames.
    ///   - isWhole: false for the beginning of a file; the first frame then ends with the available bytes.
    ///   - arriving: the first frame to use until the demuxer reports one: in an animation it waits for the complete frame.
    /// - Throws: ``WebImageError/Code/badImageData`` when the file is damaged or ends too early, ``WebImageError/Code/limitExceeded`` for a size
    ///   above the limits.
    init(
        _ bytes: UnsafeRawBufferPointer,
        limits: ImageLimits,
        wantsFrames: Bool = false,
        isWhole: Bool = true,
        arriving: Frame? = nil
    ) throws(WebImageError) {
        guard ImageFormat(detecting: bytes) == .webp, let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw WebImageError(.badImageData, "not a WebP file") }
        var features = WebPBitstreamFeatures()
        guard WebPGetFeatures(base, bytes.count, &features) == VP8_STATUS_OK else {
            throw WebImageError(.badImageData, "WebP: the header is damaged or incomplete")
        }
        try limits.check(width: Int(features.width), height: Int(features.height))
        var input = WebPData(bytes: base, size: bytes.count)
        guard let demuxer = isWhole ? WebPDemux(&input) : WebPDemuxPartial(&input, nil) else {
            throw WebImageError(.badImageData, "WebP: the file is damaged or ends too early")
        }
        defer { WebPDemuxDelete(demuxer) }
        width = Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH))
        height = Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT))
        try limits.check(width: width, height: height)
        frameCount = Int(WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT))
        if frameCount > 1 { loopCount = Int(WebPDemuxGetI(demuxer, WEBP_FF_LOOP_COUNT)) }
        var iterator = WebPIterator()
        if frameCount == 0, let arriving {
            (first, frameCount) = (arriving, 1)
            readMetadata(demuxer, limits: limits)
            return
        }
        guard WebPDemuxGetFrame(demuxer, 1, &iterator) != 0 else {
            throw WebImageError(.badImageData, "WebP: the file has no image")
        }
        defer { WebPDemuxReleaseIterator(&iterator) }
        first = Self.frame(iterator, from: base)
        if wantsFrames { frames = [first] }
        if frameCount > 1 {
            repeat {
                if wantsFrames, !durations.isEmpty { frames.append(Self.frame(iterator, from: base)) }
                durations.append(FrameDuration.corrected(Double(iterator.duration) / 1000))
            } while durations.count < limits.maximumFrameCount && WebPDemuxNextFrame(&iterator) != 0
        }
        readMetadata(demuxer, limits: limits)
    }

    /// Returns a file with the same colour profile and with one of the frames as a still image.
    func alone(_ frame: Frame) -> WebPContainer {
        var copy = self
        copy.first = frame
        (copy.first.x, copy.first.y) = (0, 0)
        (copy.width, copy.height) = (frame.width, frame.height)
        copy.frames = []
        return copy
    }

    /// The number of bytes that the decoder must hold for the first frame at any scale: all pixels of a lossless one, all of the alpha of
    /// others. Lossy colours need only a few rows.
    var decoderByteCount: Int { first.width * first.height * (first.isLossless ? 4 : first.hasAlpha ? 1 : 0) }

    private static func frame(_ iterator: WebPIterator, from base: UnsafePointer<UInt8>) -> Frame {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(iterator.fragment.bytes, iterator.fragment.size, &features)
        let start = iterator.fragment.bytes.map { $0 - base } ?? 0
        return Frame(
            x: Int(iterator.x_offset),
            y: Int(iterator.y_offset),
            width: Int(iterator.width),
            height: Int(iterator.height),
            hasAlpha: iterator.has_alpha != 0,
            isLossless: status != VP8_STATUS_OK || features.format == 2,
            duration: FrameDuration.corrected(Double(iterator.duration) / 1000),
            disposesToBackground: iterator.dispose_method == WEBP_MUX_DISPOSE_BACKGROUND,
            replaces: iterator.blend_method == WEBP_MUX_NO_BLEND,
            bytes: start..<start + iterator.fragment.size
        )
    }

    private mutating func readMetadata(_ demuxer: OpaquePointer, limits: ImageLimits) {
        let flags = WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS)
        if flags & UInt32(ICCP_FLAG.rawValue) != 0 {
            colorProfile = Self.chunk("ICCP", of: demuxer) { bytes in
                bytes.count <= limits.maximumColorProfileByteCount ? Data(bytes) : nil
            }
        }
        var tag: ImageOrientation?
        if flags & UInt32(EXIF_FLAG.rawValue) != 0 {
            tag = Self.chunk("EXIF", of: demuxer) { EXIFOrientation.tag(block: $0) }
        }
        if tag == nil, flags & UInt32(XMP_FLAG.rawValue) != 0 {
            tag = Self.chunk("XMP ", of: demuxer) { XMPOrientation.read(packet: $0) }
        }
        orientation = tag ?? .up
    }

    private static func chunk<Result>(
        _ name: String,
        of demuxer: OpaquePointer,
        _ body: (UnsafeRawBufferPointer) -> Result?
    ) -> Result? {
        var iterator = WebPChunkIterator()
        guard WebPDemuxGetChunk(demuxer, name, 1, &iterator) != 0 else { return nil }
        defer { WebPDemuxReleaseChunkIterator(&iterator) }
        return body(UnsafeRawBufferPointer(start: iterator.chunk.bytes, count: iterator.chunk.size))
    }
}
