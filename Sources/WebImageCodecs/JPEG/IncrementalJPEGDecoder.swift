import CJPEGShims
import CPixels
import FoundationEssentials

/// Wraps libjpeg: suspends at the end of the bytes and resumes with more.
final class IncrementalJPEGDecoder {
    /// The size of the decoded rows.
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let extent: (width: Double, height: Double)
    /// A Boolean value that indicates whether the image has several scans; known after ``begin()``.
    private(set) var hasScans = false
    /// A Boolean value that indicates whether decoding failed because of an error that libjpeg might not find when it has all bytes at
    /// once.
    private(set) var hasFoundBadCode = false
    /// The deadline of the following calls.
    var deadline: DecodeDeadline? {
        didSet { if let deadline { webimage_jpeg_decoder_limit(decoder, deadline.nanoseconds) } }
    }
    private let decoder: OpaquePointer
    private let eighths: Int
    private let maximumScanCount: Int
    private var hasBegun = false
    private var scanCount: UInt32 = 0

    /// - Parameters: as of ``JPEGScanlineSource``.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(
        size: (width: Int, height: Int),
        layout: ScanlineLayout,
        colorProfile: Data?,
        eighths: Int,
        maximumScanCount: Int
    ) throws(WebImageError) {
        guard let decoder = webimage_jpeg_decoder_create(nil, 0) else {
            throw WebImageError(.outOfMemory, "no memory for a JPEG decoder")
        }
        self.decoder = decoder
        self.layout = layout
        self.colorProfile = colorProfile
        self.eighths = eighths
        self.maximumScanCount = maximumScanCount
        width = (size.width * eighths + 7) / 8
        height = (size.height * eighths + 7) / 8
        extent = (Double(size.width * eighths) / 8, Double(size.height * eighths) / 8)
    }

    deinit { webimage_jpeg_decoder_free(decoder) }

    /// Allocates memory for the rows.
    func makeImage() throws(WebImageError) -> RowBuffer {
        try RowBuffer(width: width, height: height, extent: extent, layout: layout, colorProfile: colorProfile)
    }

    /// Sets all bytes so far; they must stay at their address during the following calls.
    func feed(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        webimage_jpeg_decoder_feed(decoder, start, bytes.count, isWhole)
    }

    /// Returns whether a call is complete; false when it is suspended until there are more bytes.
    private func isDone(_ status: webimage_jpeg_status) throws(WebImageError) -> Bool {
        if status == webimage_jpeg_suspended { return false }
        if status == webimage_jpeg_bad_code { hasFoundBadCode = true }
        let most = maximumScanCount
        if let error = JPEGScanlineSource.error(status, decoder, maximumScanCount: most, deadline: deadline) {
            throw error
        }
        return true
    }

    /// Reads the header; returns false when it is incomplete.
    func begin() throws(WebImageError) -> Bool {
        if hasBegun { return true }
        let pixels =
            switch layout {
            case .gray8: webimage_jpeg_gray
            case .bgra8Premultiplied: webimage_jpeg_bgra
            case .cmyk8: webimage_jpeg_cmyk
            default: webimage_jpeg_rgb
            }
        var (width, height) = (UInt32(0), UInt32(0))
        let scans = UInt32(clamping: max(maximumScanCount, 0))
        let status = webimage_jpeg_decoder_begin(
            decoder,
            pixels,
            UInt32(eighths),
            scans,
            &width,
            &height,
            &hasScans
        )
        guard try isDone(status) else { return false }
        // The plan and the checks are for the size in the header.
        guard Int(width) == self.width, Int(height) == self.height else {
            throw WebImageError(.badImageData, "the JPEG is damaged: its headers state different sizes")
        }
        hasBegun = true
        return true
    }

    /// Decodes the available rows; returns true when all are decoded.
    func readAvailable(into buffer: RowBuffer) throws(WebImageError) -> Bool {
        let first = buffer.rowCount
        var count = UInt32(clamping: first)
        let base = buffer.address(of: 0)
        let status = webimage_jpeg_decoder_read_available(decoder, base, buffer.bytesPerRow, &count)
        let isDone = try isDone(status)
        buffer.rowCount = Int(count)
        invert(buffer, rows: first..<Int(count))
        return isDone
    }

    /// Reads the available data of the scans; returns true when all are read.
    func absorb() throws(WebImageError) -> Bool {
        try isDone(webimage_jpeg_decoder_absorb(decoder, &scanCount))
    }

    /// Decodes the image from all scans.
    func readLastPass(into buffer: RowBuffer) throws(WebImageError) {
        try check(webimage_jpeg_decoder_begin_pass(decoder, scanCount, true))
        let base = buffer.address(of: 0)
        try check(webimage_jpeg_decoder_read_pass(decoder, UInt32(height), base, buffer.bytesPerRow))
        buffer.rowCount = height
        invert(buffer, rows: 0..<height)
    }

    private func check(_ status: webimage_jpeg_status) throws(WebImageError) {
        guard try isDone(status) else { throw WebImageError(.badImageData, "the JPEG image data is truncated") }
    }

    /// CMYK in JPEG has been stored inverted since Photoshop, with or without a marker of the program.
    private func invert(_ buffer: RowBuffer, rows: Range<Int>) {
        guard layout == .cmyk8 else { return }
        for row in rows { cpixels_invert(buffer.address(of: row), width * 4) }
    }

    /// Starts decoding the image from the complete scans; returns nil when there is none.
    func beginPass() throws(WebImageError) -> IncrementalJPEGPass? {
        guard hasBegun, hasScans, scanCount > 0 else { return nil }
        let rows = try ScratchBuffer(byteCount: IncrementalJPEGPass.blockRows * width * layout.bytesPerPixel)
        // Block edges are smoothed while there is hardly more than one value per block.
        try check(webimage_jpeg_decoder_begin_pass(decoder, scanCount, scanCount == 1))
        return IncrementalJPEGPass(self, rows)
    }

    fileprivate func readPass(_ count: Int, into rows: ScratchBuffer) throws(WebImageError) {
        let stride = width * layout.bytesPerPixel
        try check(webimage_jpeg_decoder_read_pass(decoder, UInt32(count), rows.bytes, stride))
        if layout == .cmyk8 { cpixels_invert(rows.bytes, count * stride) }
    }

    fileprivate func endPass() throws(WebImageError) { try check(webimage_jpeg_decoder_end_pass(decoder)) }
}

/// The rows of an image of several scans, decoded from some of them. No other call of the decoder is allowed until the end.
final class IncrementalJPEGPass: ReceivedRows {
    static let blockRows = 16
    private let decoder: IncrementalJPEGDecoder
    private let rows: ScratchBuffer
    private var held = 0..<0

    fileprivate init(_ decoder: IncrementalJPEGDecoder, _ rows: ScratchBuffer) {
        self.decoder = decoder
        self.rows = rows
    }

    var width: Int { decoder.width }
    var height: Int { decoder.height }
    var extent: (width: Double, height: Double) { decoder.extent }
    var layout: ScanlineLayout { decoder.layout }
    var colorProfile: Data? { decoder.colorProfile }

    func row(_ row: Int) throws(WebImageError) -> UnsafePointer<UInt8>? {
        while row >= held.upperBound {
            let count = min(Self.blockRows, height - held.upperBound)
            guard count > 0 else { return nil }
            try decoder.readPass(count, into: rows)
            held = held.upperBound..<held.upperBound + count
        }
        guard held.contains(row) else { return nil }
        return UnsafePointer(rows.bytes + (row - held.lowerBound) * width * layout.bytesPerPixel)
    }

    /// Ends the pass; remaining rows are skipped.
    func end() throws(WebImageError) { try decoder.endPass() }
}
