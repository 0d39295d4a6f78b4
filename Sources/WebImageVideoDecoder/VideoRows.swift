import CPixels
import FoundationEssentials
import WebImageCodecs

/// Reads the rows of a decoded frame, which is converted to RGB as a whole: it is scaled to square pixels in the same step.
final class VideoRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let file: VideoFile
    private var frame: ScratchBuffer?
    private var nextRow = 0

    init(_ file: VideoFile, _ properties: ImageProperties, _ options: ImageDecodeOptions) {
        self.file = file
        (width, height) = (properties.width, properties.height)
        let own = file.color
        let needsHighBitDepth = own.needsHighBitDepthRows(bitsPerComponent: properties.bitsPerComponent)
        let isDeep = needsHighBitDepth || options.keepsHighBitDepth && properties.isHighBitDepth
        layout = isDeep ? .rgbaFloat : .rgb8
        color = own
        colorProfile = isDeep ? nil : own.makeProfile()
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        let isDeep = layout == .rgbaFloat
        // Room for vector code that writes beyond a row.
        let stride = (width * (isDeep ? 6 : 3) + 127) & ~63
        let frame: ScratchBuffer
        if let converted = self.frame { frame = converted } else { frame = try converted(stride, isDeep) }
        for row in 0..<count {
            let source = frame.base + (nextRow + row) * stride
            let target = base + row * bytesPerRow
            if isDeep {
                cpixels_rgb_shorts_to_rgba_floats(
                    source.assumingMemoryBound(to: UInt16.self),
                    target.assumingMemoryBound(to: Float.self),
                    width,
                    65_535
                )
            } else {
                target.copyMemory(from: source, byteCount: width * 3)
            }
        }
        nextRow += count
    }

    private func converted(_ stride: Int, _ isDeep: Bool) throws(WebImageError) -> ScratchBuffer {
        let buffer = try ScratchBuffer(byteCount: stride * height)
        try file.convert(to: buffer.base, width: width, height: height, isDeep: isDeep, bytesPerRow: stride)
        frame = buffer
        return buffer
    }
}
