import FoundationEssentials

/// The rows of an image from the top, as stored: 8 bits, in sRGB, alpha premultiplied.
protocol RowStrips: AnyObject, Sendable {
    var width: Int { get }
    var height: Int { get }
    var format: PixelFormat { get }

    /// Returns the next rows. Called by one thread at a time.
    func read(_ count: Int, _ deadline: DecodeDeadline?) throws(WebImageError) -> Bitmap
}

extension ImageCoder {
    /// Returns the rows of an image; nil if the coder has the whole image in memory to return them.
    func rowStrips(
        of bytes: RegionBytes,
        _ properties: ImageProperties,
        _ options: RegionOptions
    ) throws(WebImageError) -> (any RowStrips)? {
        if let coder = self as? any RegionServingCoder {
            let setup = options.setup(.rows, RegionLevel(properties))
            guard let server = try coder.regionServer(of: bytes.input, setup) else { return nil }
            return ServedStrips(server, width: properties.width, height: properties.height)
        }
        guard let coder = self as? any RowCoder else { return nil }
        var decoding = options.decoding
        decoding.limits = options.headerLimits
        guard let rows = try coder.rows(of: bytes.data(options.limits), options: decoding) else { return nil }
        return try ScanlineStrips(rows, retaining: bytes, properties, options)
    }
}

/// Strips of a decoder's rows.
final class ScanlineStrips: RowStrips, @unchecked Sendable {
    // Sendable because it is used by one thread at a time.

    let format: PixelFormat
    private let source: any ScanlineSource
    private let bytes: RegionBytes
    private let transform: ColorTransform?

    /// - Parameter bytes: What the source reads; retained.
    init(
        _ source: any ScanlineSource,
        retaining bytes: RegionBytes,
        _ properties: ImageProperties,
        _ options: RegionOptions
    ) throws(WebImageError) {
        let source = try ImageAssembler.rowsOf8Bits(source, properties, options.decoding)
        (self.source, self.bytes) = (source, bytes)
        format = source.layout.hasAlpha ? .bgra8Premultiplied : .rgb8
        let limit = options.limits.maximumColorProfileByteCount
        transform = ColorTransform.shared(profile: source.colorProfile, layout: source.layout, limit: limit)
    }

    var width: Int { source.width }
    var height: Int { source.height }

    func read(_ count: Int, _ deadline: DecodeDeadline?) throws(WebImageError) -> Bitmap {
        let plan = DecodePlan(width: source.width, height: count, orientation: .up, isThumbnail: false)
        let sink = try RowSink(plan: plan, layout: source.layout, transform: transform, format: format)
        let stride = (source.width * source.layout.bytesPerPixel + 63) & ~63
        let scratch = try ScratchBuffer(byteCount: stride * Resampler.blockRows)
        var done = 0
        while done < count {
            try deadline?.check()
            let rows = min(Resampler.blockRows, count - done)
            try source.readRows(rows, into: scratch.base, bytesPerRow: stride)
            for index in 0..<rows {
                sink.normalize(scratch.bytes + index * stride, count: source.width)
                sink.put(scratch.bytes + index * stride)
            }
            done += rows
        }
        sink.flush()
        return sink.bitmap
    }
}

extension ImageAssembler {
    /// Returns the rows with 8 bits for each component.
    fileprivate static func rowsOf8Bits(
        _ source: any ScanlineSource,
        _ properties: ImageProperties,
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> any ScanlineSource {
        guard source.layout == .rgbaFloat else { return source }
        let converter = HighBitDepthConverter(
            color: source.color,
            profile: source.colorProfile,
            limit: options.limits.maximumColorProfileByteCount,
            toneMaps: properties.isHighDynamicRange
        )
        return try NarrowedRows(source, converter, hasAlpha: properties.hasAlpha)
    }
}

/// Strips that a server decodes, as a rule in a worker process.
final class ServedStrips: RowStrips {
    let width: Int
    let height: Int
    private let server: any RegionServer

    init(_ server: any RegionServer, width: Int, height: Int) {
        (self.server, self.width, self.height) = (server, width, height)
    }

    var format: PixelFormat { server.rowFormat }

    func read(_ count: Int, _ deadline: DecodeDeadline?) throws(WebImageError) -> Bitmap {
        try deadline?.check()
        let strip = try server.readRows(count, width: width)
        guard strip.width == width, strip.height == count, strip.pixelFormat == format else {
            throw WebImageError(.badImageData, "the rows have another size than the image")
        }
        return strip
    }
}
