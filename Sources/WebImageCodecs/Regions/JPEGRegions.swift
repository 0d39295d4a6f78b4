import CJPEGShims
import CPixels
import FoundationEssentials
import Glibc

/// Regions of a baseline JPEG: rectangles of its blocks are decoded from the places in an index, which a pass over the Huffman codes makes.
final class JPEGRegions: RegionSource, @unchecked Sendable {
    // Sendable because the index is walked by one thread at a time, and read only where it was walked before.

    private let index: OpaquePointer
    private let bytes: RegionBytes
    /// Retained for the index; nil if it reads the file.
    private let data: Data?
    private let header: JPEGHeader
    private let properties: ImageProperties
    private let levels: [RegionLevel]
    private let layout: webimage_jpeg_layout
    private let options: RegionOptions
    private let orientation: ImageOrientation
    private let stopwatch: Lock<DecodeStopwatch?>
    /// The levels below that of the means, as stored.
    private let smallLevels = Lock<[Bitmap]>([])
    private let fallback: @Sendable () throws(WebImageError) -> (any RegionSource)?

    /// The level whose pixels are the means of blocks, which are read from the codes when they are needed.
    private static let blockLevel = 3
    /// The level whose pixels are the means of 16 by 16 pixels, which the pass keeps.
    private static let meanLevel = 4
    /// The pixels of one step of the pass: about 30 ms.
    private static let pixelsPerStep = 32 << 20
    /// Files up to this size are loaded.
    static let maximumLoadedByteCount = 16 << 20

    /// Returns nil if the image has no index: several scans, arithmetic codes, unusual sampling.
    ///
    /// - Parameter fallback: Makes another source, for damaged data.
    init?(
        _ bytes: RegionBytes,
        properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions,
        fallback: @escaping @Sendable () throws(WebImageError) -> (any RegionSource)?
    ) throws(WebImageError) {
        let (header, start) = try Self.header(bytes, options.headerLimits)
        guard !header.hasScans, !header.frame.isArithmetic else { return nil }
        // A file that is not loaded is read through a window, to which the limit of encoded bytes does not apply.
        let most = min(Self.maximumLoadedByteCount, options.limits.maximumEncodedByteCount)
        let data = bytes.file < 0 || bytes.byteCount <= most ? try bytes.data(options.limits) : nil
        let index = start.withUnsafeBytes { start -> OpaquePointer? in
            let start = start.bindMemory(to: UInt8.self)
            // The address of data that is not changed stays valid as long as it is retained.
            let memory = data?.withUnsafeBytes { $0.bindMemory(to: UInt8.self).baseAddress }
            let source = webimage_jpeg_bytes(memory: memory, file: bytes.file, count: UInt64(bytes.byteCount))
            return webimage_jpeg_index_create(start.baseAddress, start.count, source, UInt64(header.scanStart))
        }
        guard let index else { return nil }
        let layout = webimage_jpeg_index_layout(index)
        // The header was read before, for the levels; the file can have changed since then.
        guard header.frame.width == properties.width, header.frame.height == properties.height,
            Int(layout.mean_width) == (properties.width + 15) / 16,
            Int(layout.mean_height) == (properties.height + 15) / 16,
            Int(layout.component_count) == header.frame.sampling.count
        else {
            webimage_jpeg_index_free(index)
            throw WebImageError(.badImageData, "the JPEG has changed while it was opened")
        }
        (self.index, self.bytes, self.data, self.header) = (index, bytes, data, header)
        (self.properties, self.levels, self.options, self.fallback) = (properties, levels, options, fallback)
        orientation = properties.orientation
        self.layout = layout
        stopwatch = Lock(DecodeStopwatch(options.limits))
    }

    deinit { webimage_jpeg_index_free(index) }

    /// Reads the header, which may be long: it can contain a colour profile and thumbnails.
    private static func header(_ bytes: RegionBytes, _ limits: ImageLimits) throws(WebImageError) -> (JPEGHeader, Data)
    {
        try bytes.longEnoughPrefix { (start) throws(WebImageError) in
            let header = try JPEGHeader(start, limits: limits)
            return (header, start.prefix(header.scanStart))
        }
    }

    static func properties(_ bytes: RegionBytes, _ limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let (header, _) = try header(bytes, limits)
        try limits.check(width: header.frame.width, height: header.frame.height)
        return JPEGCoder.properties(header, limits)
    }

    var isNative: Bool { true }

    // MARK: The pass

    func rowsNeeded(for area: PixelArea, level: Int) -> Int {
        let area = area.stored(from: orientation, in: levels[level])
        if level <= Self.meanLevel - 1 { return units(of: area, level).rows.upperBound }
        guard level == Self.meanLevel else { return Int(layout.rows) }
        return min((area.bottom * 16 + Int(layout.unit_height) - 1) / Int(layout.unit_height), Int(layout.rows))
    }

    func advance() throws(WebImageError) -> Int {
        let count = max(Self.pixelsPerStep / max(Int(layout.columns * layout.unit_width * layout.unit_height), 1), 1)
        var row: UInt32 = 0
        try time { (_) throws(WebImageError) in
            guard webimage_jpeg_index_walk(index, UInt32(clamping: count), &row) == webimage_jpeg_ok else {
                throw WebImageError(.badImageData, "the JPEG is damaged, or ends too early")
            }
        }
        return Int(row)
    }

    /// Runs a step of the pass, whose steps together have the maximum duration.
    private func time(_ body: (DecodeDeadline?) throws(WebImageError) -> Void) throws(WebImageError) {
        guard var watch = stopwatch.withLock({ $0 }) else { return try body(nil) }
        defer { stopwatch.withLock { $0 = watch } }
        try watch.measure { (deadline) throws(WebImageError) in try body(deadline) }
    }

    /// Damage that the index does not get over is painted over in a decode of the whole image.
    func replacement(after error: WebImageError) throws(WebImageError) -> (any RegionSource)? {
        guard error.code == .badImageData else { return nil }
        return try fallback()
    }

    // MARK: Reading

    /// Returns the units of blocks that a stored rectangle of a level depends on: those around it as well, from which colours are interpolated.
    private func units(of area: PixelArea, _ level: Int) -> (columns: Range<Int>, rows: Range<Int>) {
        func range(_ first: Int, _ end: Int, _ size: UInt32, _ count: UInt32) -> Range<Int> {
            let size = Int(size)
            let lower = min(max((first << level) / size - 1, 0), Int(count) - 1)
            return lower..<max(min(((end << level) + size - 1) / size + 1, Int(count)), lower + 1)
        }
        return (
            range(area.left, area.right, layout.unit_width, layout.columns),
            range(area.top, area.bottom, layout.unit_height, layout.rows)
        )
    }

    func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image {
        let stored = area.stored(from: orientation, in: levels[level])
        let plan = DecodePlan(
            width: stored.width,
            height: stored.height,
            orientation: orientation,
            isThumbnail: level > 0
        )
        let decoding = options.decoding
        let bitmap: Bitmap
        if level < Self.blockLevel {
            bitmap = try decode(stored, level, plan, decoding, check)
        } else if level == Self.blockLevel {
            bitmap = try blocks(stored, plan, decoding, check)
        } else if level == Self.meanLevel {
            bitmap = try means(stored, plan, decoding)
        } else {
            let part = try smallLevel(level).part(
                x: stored.left,
                y: stored.top,
                width: stored.width,
                height: stored.height
            )
            bitmap = try (orientation == .up ? part.copy() : part.upright(from: orientation))
        }
        let metadata = ImageAssembler.metadata(properties, plan, decoding)
        return Image(bitmap: bitmap, metadata: metadata, decodeOptions: decoding)
    }

    private func decode(
        _ area: PixelArea,
        _ level: Int,
        _ plan: DecodePlan,
        _ decoding: ImageDecodeOptions,
        _ check: RegionCheck
    ) throws(WebImageError) -> Bitmap {
        let (columns, rows) = units(of: area, level)
        let (copy, count) = try copy(columns, rows, check)
        defer { free(copy) }
        let part = UnsafeRawBufferPointer(start: copy, count: count)
        let full = DecodePlan(
            width: header.frame.width,
            height: header.frame.height,
            orientation: orientation,
            isThumbnail: false
        )
        let (layout, profile) = JPEGCoder.layout(header, full, decoding)
        let source = try JPEGScanlineSource(
            part,
            try JPEGHeader(part),
            JPEGScanlineSource.Settings(
                layout: layout,
                colorProfile: profile,
                eighths: 8 >> level,
                maximumScanCount: 1,
                deadline: check.deadline
            )
        )
        let left = area.left - (columns.lowerBound * Int(self.layout.unit_width)) >> level
        let top = area.top - (rows.lowerBound * Int(self.layout.unit_height)) >> level
        let sink = try sink(plan, layout, profile, decoding)
        let pixel = layout.bytesPerPixel
        let stride = (source.width * pixel + 63) & ~63
        let scratch = try ScratchBuffer(byteCount: stride * Resampler.blockRows)
        var row = 0
        while row < top + area.height {
            try check()
            let next = row < top ? top : top + area.height
            let count = min(Resampler.blockRows, next - row)
            try source.readRows(count, into: scratch.base, bytesPerRow: stride)
            if row >= top {
                for line in 0..<count { sink.put(UnsafePointer(scratch.bytes + line * stride + left * pixel)) }
            }
            row += count
        }
        sink.flush()
        return sink.bitmap
    }

    /// The state of a copy while C code calls back.
    private struct CopyContext {
        let check: RegionCheck
        var error: WebImageError?
    }

    /// Copies units into a small JPEG, which the caller frees.
    private func copy(
        _ columns: Range<Int>,
        _ rows: Range<Int>,
        _ check: RegionCheck
    ) throws(WebImageError) -> (bytes: UnsafeMutablePointer<UInt8>, count: Int) {
        let most = options.limits.maximumDecodedByteCount
        var context = CopyContext(check: check)
        var (copy, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
        let status = withUnsafeMutablePointer(to: &context) { context in
            let isWanted: @convention(c) (UnsafeMutableRawPointer?) -> Bool = { context in
                guard let context = context?.assumingMemoryBound(to: CopyContext.self) else { return true }
                do throws(WebImageError) {
                    try context.pointee.check()
                    return true
                } catch {
                    context.pointee.error = error
                    return false
                }
            }
            return webimage_jpeg_index_copy(
                index,
                UInt32(columns.lowerBound),
                UInt32(rows.lowerBound),
                UInt32(columns.count),
                UInt32(rows.count),
                webimage_jpeg_copy_limits(most: max(most, 0), is_wanted: isWanted, context: context),
                &copy,
                &count
            )
        }
        if let error = context.error { throw error }
        if status == webimage_jpeg_too_large {
            throw .limitExceeded("maximumDecodedByteCount", allowed: most, required: most + 1)
        }
        guard status == webimage_jpeg_ok, let copy else { throw Self.error(status) }
        return (copy, count)
    }

    private func sink(
        _ plan: DecodePlan,
        _ layout: ScanlineLayout,
        _ profile: Data?,
        _ decoding: ImageDecodeOptions
    ) throws(WebImageError) -> RowSink {
        let limit = options.limits.maximumColorProfileByteCount
        let transform = ColorTransform.shared(profile: profile, layout: layout, limit: limit)
        return try RowSink(plan: plan, layout: layout, transform: transform, format: decoding.pixelFormat ?? .rgb8)
    }

    /// Returns the means of blocks, without decoding more of them. Colours that are stored at half of the size are not interpolated.
    private func blocks(
        _ area: PixelArea,
        _ plan: DecodePlan,
        _ decoding: ImageDecodeOptions,
        _ check: RegionCheck
    ) throws(WebImageError) -> Bitmap {
        let (across, down) = (Int(layout.unit_width) / 8, Int(layout.unit_height) / 8)
        let columns = area.left / across..<(area.right + across - 1) / across
        let rows = area.top / down..<(area.bottom + down - 1) / down
        let sink = try sink(plan, storedLayout, header.colorProfile, decoding)
        let count = Int(layout.component_count)
        let stride = columns.count * across * count
        let scratch = try ScratchBuffer(byteCount: stride * down)
        for row in rows {
            try check()
            let status = webimage_jpeg_index_blocks(
                index,
                UInt32(columns.lowerBound),
                UInt32(row),
                UInt32(columns.count),
                scratch.bytes,
                stride
            )
            guard status == webimage_jpeg_ok else { throw Self.error(status) }
            // As in JPEGScanlineSource: CMYK is stored inverted.
            if storedLayout == .cmyk8 { cpixels_invert(scratch.bytes, stride * down) }
            for line in 0..<down where area.top..<area.bottom ~= row * down + line {
                sink.put(
                    UnsafePointer(scratch.bytes + line * stride + (area.left - columns.lowerBound * across) * count)
                )
            }
        }
        sink.flush()
        return sink.bitmap
    }

    private var storedLayout: ScanlineLayout {
        layout.component_count == 1 ? .gray8 : layout.component_count == 4 ? .cmyk8 : .rgb8
    }

    private static func error(_ status: webimage_jpeg_status) -> WebImageError {
        status == webimage_jpeg_no_memory
            ? WebImageError(.outOfMemory, "no memory to decode a JPEG")
            : WebImageError(.badImageData, "the JPEG has changed, or is damaged")
    }

    /// Returns a part of the image of means.
    private func means(
        _ area: PixelArea,
        _ plan: DecodePlan,
        _ decoding: ImageDecodeOptions
    ) throws(WebImageError) -> Bitmap {
        let count = Int(layout.component_count)
        let kind = storedLayout
        let sink = try sink(plan, kind, header.colorProfile, decoding)
        let width = Int(layout.mean_width)
        let scratch = try ScratchBuffer(byteCount: width * count)
        for row in area.top..<area.bottom {
            webimage_jpeg_index_means(index, UInt32(row), scratch.bytes)
            // As in JPEGScanlineSource: CMYK is stored inverted.
            if kind == .cmyk8 { cpixels_invert(scratch.bytes, width * 4) }
            sink.put(UnsafePointer(scratch.bytes + area.left * count))
        }
        sink.flush()
        return sink.bitmap
    }

    /// Returns a level below that of the means, as stored. All of them are made at once, and kept.
    private func smallLevel(_ level: Int) throws(WebImageError) -> Bitmap {
        let index = level - Self.meanLevel - 1
        if let known = smallLevels.withLock({ $0.indices.contains(index) ? $0[index] : nil }) { return known }
        let (width, height) = (Int(layout.mean_width), Int(layout.mean_height))
        let all = PixelArea(left: 0, top: 0, width: width, height: height)
        let plan = DecodePlan(width: width, height: height, orientation: .up, isThumbnail: true)
        var made = [try means(all, plan, options.decoding).halved()]
        while made.count < levels.count - Self.meanLevel - 1 { made.append(try made[made.count - 1].halved()) }
        let result = made
        smallLevels.withLock { $0 = result }
        return result[index]
    }
}

extension JPEGCoder: RegionCoder {
    package func regions(
        of bytes: RegionBytes,
        properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions
    ) throws(WebImageError) -> (any RegionSource)? {
        try JPEGRegions(bytes, properties: properties, levels: levels, options: options) { () throws(WebImageError) in
            try RegionFallback(bytes, properties, levels, options).source(coder: self)
        }
    }
}
