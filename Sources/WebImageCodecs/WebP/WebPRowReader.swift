import CWebP
import FoundationEssentials

/// Reads the rows of a WebP image, or of the first frame of an animation on its canvas.
///
/// WebP is decoded as a whole: directly into the caller's memory if it reads all rows at once, otherwise into a buffer, which holds
/// the image as scaled by the decoder, or the non-empty part of the canvas.
final class WebPRowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?

    private let data: Data
    private let container: WebPContainer
    private let limits: ImageLimits
    private var whole: PixelStorage?
    private var nextRow = 0

    /// - Parameters:
    ///   - width: the width to which the decoder scales, at most that of the canvas; a frame that does not cover its canvas is not
    ///     scaled.
    init(_ data: Data, container: WebPContainer, width: Int, height: Int, limits: ImageLimits) {
        let scales = container.firstCoversCanvas
        self.width = scales ? width : container.width
        self.height = scales ? height : container.height
        layout = container.hasAlpha ? .rgba8 : .rgb8
        colorProfile = container.colorProfile
        self.data = data
        self.container = container
        self.limits = limits
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        if nextRow == 0, count == height {
            try decode(into: base, bytesPerRow: bytesPerRow)
        } else if !container.firstCoversCanvas {
            try placeRows(count, into: base, bytesPerRow: bytesPerRow)
        } else {
            let whole = try wholeImage()
            let rowBytes = width * layout.bytesPerPixel
            for row in 0..<count {
                let source = whole.base + (nextRow + row) * rowBytes
                (base + row * bytesPerRow).copyMemory(from: source, byteCount: rowBytes)
            }
        }
        nextRow += count
    }

    /// Writes rows of the canvas, which is never held: it may be a million times larger than the frame.
    private func placeRows(
        _ count: Int,
        into base: UnsafeMutableRawPointer,
        bytesPerRow: Int
    ) throws(WebImageError) {
        let frame = container.first
        let frameRowBytes = frame.width * 4
        let part: PixelStorage
        if let whole {
            part = whole
        } else {
            try limits.check(decodedByteCount: frameRowBytes * frame.height)
            part = try PixelStorage.allocate(byteCount: frameRowBytes * frame.height)
            try decode(frame, into: part.base, width: frame.width, height: frame.height, bytesPerRow: frameRowBytes)
            whole = part
        }
        for row in 0..<count {
            let target = base + row * bytesPerRow
            target.initializeMemory(as: UInt8.self, repeating: 0, count: width * 4)
            let line = nextRow + row - frame.y
            guard line >= 0, line < frame.height else { continue }
            // The demuxer has checked that the frame lies on the canvas.
            (target + frame.x * 4).copyMemory(from: part.base + line * frameRowBytes, byteCount: frameRowBytes)
        }
    }

    private func wholeImage() throws(WebImageError) -> PixelStorage {
        if let whole { return whole }
        let rowBytes = width * layout.bytesPerPixel
        let byteCount = rowBytes * height
        try limits.check(decodedByteCount: byteCount)
        let storage = try PixelStorage.allocate(byteCount: byteCount)
        try decode(into: storage.base, bytesPerRow: rowBytes)
        whole = storage
        return storage
    }

    private func decode(into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        let frame = container.first
        guard container.firstCoversCanvas else {
            for row in 0..<height {
                (base + row * bytesPerRow).initializeMemory(as: UInt8.self, repeating: 0, count: width * 4)
            }
            // The demuxer has checked that the frame lies on the canvas.
            let origin = base + frame.y * bytesPerRow + frame.x * 4
            return try decode(frame, into: origin, width: frame.width, height: frame.height, bytesPerRow: bytesPerRow)
        }
        try decode(frame, into: base, width: width, height: height, bytesPerRow: bytesPerRow)
    }

    private func decode(
        _ frame: WebPContainer.Frame,
        into base: UnsafeMutableRawPointer,
        width: Int,
        height: Int,
        bytesPerRow: Int
    ) throws(WebImageError) {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw WebImageError(.badImageData, "WebP: version mismatch with the installed libwebp")
        }
        if width != frame.width || height != frame.height {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(width)
            config.options.scaled_height = Int32(height)
        }
        config.output.colorspace = layout == .rgba8 ? MODE_RGBA : MODE_RGB
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = base.assumingMemoryBound(to: UInt8.self)
        config.output.u.RGBA.stride = Int32(bytesPerRow)
        config.output.u.RGBA.size = bytesPerRow * (height - 1) + width * layout.bytesPerPixel
        // libwebp filters a lossy image in a second thread; a lossless one has no use for it.
        let most = frame.isLossless ? 1 : 2
        let status = CodingQueue.withThreads(forPixelCount: frame.width * frame.height, upTo: most) { count in
            data.withUnsafeBytes { bytes in
                let fragment = UnsafeRawBufferPointer(rebasing: bytes[frame.bytes])
                let start = fragment.baseAddress?.assumingMemoryBound(to: UInt8.self)
                config.options.use_threads = count > 1 ? 1 : 0
                let status = WebPDecode(start, fragment.count, &config)
                // The system had no memory, or no thread.
                guard status == VP8_STATUS_OUT_OF_MEMORY, count > 1 else { return status }
                config.options.use_threads = 0
                return WebPDecode(start, fragment.count, &config)
            }
        }
        WebPFreeDecBuffer(&config.output)
        guard status == VP8_STATUS_OK else { throw Self.error(status, pixelCount: width * height) }
    }

    /// Returns the error of a status of libwebp. Newer versions, such as 1.6, also return `VP8_STATUS_OUT_OF_MEMORY` for damaged alpha,
    /// so it counts as a lack of memory only if memory for the pixels cannot be allocated.
    static func error(_ status: VP8StatusCode, pixelCount: Int) -> WebImageError {
        switch status {
        case VP8_STATUS_OUT_OF_MEMORY where (try? PixelStorage.allocate(byteCount: 4 * pixelCount)) == nil:
            WebImageError(.outOfMemory, "no memory to decode WebP")
        case VP8_STATUS_NOT_ENOUGH_DATA: WebImageError(.badImageData, "WebP: the data ends too early")
        default: WebImageError(.badImageData, "WebP: the image is damaged (status \(status.rawValue))")
        }
    }
}
