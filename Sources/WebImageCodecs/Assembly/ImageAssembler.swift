import CPixels
import FoundationEssentials

/// Makes an ``Image`` from a decoder's rows: colours converted to sRGB, alpha premultiplied, resized, upright.
package enum ImageAssembler {
    /// Reads all rows of `source`.
    ///
    /// Rows that need no further work are decoded directly into the result's memory. Otherwise they pass through a window of a few rows, so a
    /// thumbnail does not need memory for the full image unless the decoder does.
    ///
    /// - Throws: the errors of the source, ``WebImageError/Code/decodeTimedOut``, or ``WebImageError/Code/outOfMemory``.
    package static func makeImage(
        from source: any ScanlineSource,
        properties: ImageProperties,
        plan: DecodePlan,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        let source = TimedRows.limiting(source, by: options.limits)
        if source.layout == .rgbaFloat {
            return try makeImage(ofHighBitDepth: source, properties: properties, plan: plan, options: options)
        }
        let wanted = options.pixelFormat == .rgbaHalfPremultiplied ? nil : options.pixelFormat
        let format = source.layout.hasAlpha ? .bgra8Premultiplied : wanted ?? .rgb8
        let transform = ColorTransform.shared(
            profile: source.colorProfile,
            layout: source.layout,
            limit: options.limits.maximumColorProfileByteCount
        )
        let sink = try RowSink(plan: plan, layout: source.layout, transform: transform, format: format)
        if source.width != plan.width || source.height != plan.height {
            try resize(source, into: sink, plan: plan, quality: options.scalingQuality)
        } else if let bytesPerRow = sink.directBytesPerRow {
            let bitmap = sink.bitmap
            try inBands(source, sink, rowCount: source.height) { (source, _, band) throws(WebImageError) in
                try source.readRows(band.count, into: bitmap.mutableRow(band.lowerBound), bytesPerRow: bytesPerRow)
            }
        } else {
            try copy(source, into: sink)
        }
        let isHighBitDepth = options.pixelFormat == .rgbaHalfPremultiplied
        return Image(
            bitmap: isHighBitDepth ? try sink.bitmap.converted(to: .rgbaHalfPremultiplied) : sink.bitmap,
            scale: options.scaleFactor,
            metadata: metadata(properties, plan, options),
            decodeOptions: options
        )
    }

    private static func makeImage(
        ofHighBitDepth source: any ScanlineSource,
        properties: ImageProperties,
        plan: DecodePlan,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        let converter = HighBitDepthConverter(
            color: source.color,
            profile: source.colorProfile,
            limit: options.limits.maximumColorProfileByteCount,
            toneMaps: properties.isHighDynamicRange
        )
        guard options.keepsHighBitDepth else {
            let rows = try NarrowedRows(source, converter, hasAlpha: properties.hasAlpha)
            return try makeImage(from: rows, properties: properties, plan: plan, options: options)
        }
        return try makeHighBitDepthImage(
            from: source,
            converter: converter,
            properties: properties,
            plan: plan,
            options: options
        )
    }

    private static func copy(_ source: any ScanlineSource, into sink: RowSink) throws(WebImageError) {
        let stride = (source.width * source.layout.bytesPerPixel + 63) & ~63
        let rows = min(Resampler.blockRows, source.height)
        try inBands(source, sink, rowCount: source.height) { (source, sink, band) throws(WebImageError) in
            let scratch = try ScratchBuffer(byteCount: stride * rows)
            var row = band.lowerBound
            while row < band.upperBound {
                let count = min(rows, band.upperBound - row)
                try source.readRows(count, into: scratch.base, bytesPerRow: stride)
                for index in 0..<count { sink.normalize(scratch.bytes + index * stride, count: source.width) }
                for index in 0..<count { sink.put(scratch.bytes + index * stride) }
                row += count
            }
        }
    }

    /// Runs `body` for bands of rows of the result, at the same time if the rows of `source` can be read in any order. The sink of a band is flushed
    /// after it.
    ///
    /// - Parameter firstRow: returns the first row to read for a band.
    private static func inBands(
        _ source: any ScanlineSource,
        _ sink: RowSink,
        rowCount: Int,
        firstRow: @escaping @Sendable (_ band: Range<Int>) -> Int = \.lowerBound,
        _ body: @escaping @Sendable (any ScanlineSource, RowSink, _ band: Range<Int>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        // Not used at the same time: each band has a separate source and sink.
        nonisolated(unsafe) let (source, sink) = (source, sink)
        let isLarge = CodingQueue.mostThreads(forPixelCount: source.decodedPixelCount) > 1
        let isInBands = isLarge && CodingQueue.shared.idlePlaceCount > 0 && source.isRandomAccess
        let pixelCount = isInBands ? source.decodedPixelCount : 0
        try CodingQueue.performInBands(rowCount: rowCount, pixelCount: pixelCount) { (band) throws(WebImageError) in
            guard band.count < rowCount else {
                try body(source, sink, band)
                return sink.flush()
            }
            let part = try RowSink(sink, from: band.lowerBound)
            try body(try source.source(from: firstRow(band)), part, band)
            part.flush()
        }
    }

    private static func resize(
        _ source: any ScanlineSource,
        into sink: RowSink,
        plan: DecodePlan,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) {
        let resampler = Resampler(
            from: (source.width, source.height),
            extent: source.extent,
            to: (plan.width, plan.height),
            channels: source.layout.bytesPerPixel,
            isPremultiplied: source.layout.hasAlpha,
            quality: quality
        )
        try inBands(source, sink, rowCount: plan.height, firstRow: { resampler.firstRow(of: $0) }) {
            (source, sink, band) throws(WebImageError) in
            let place = sink.directBytesPerRow.map { stride in
                let base = sink.bitmap.mutableRow(band.lowerBound).assumingMemoryBound(to: UInt8.self)
                return Resampler.RowPlace(base: base, bytesPerRow: stride)
            }
            try resampler.run(band: band, into: place) { (count, base, bytesPerRow) throws(WebImageError) in
                try source.readRows(count, into: base, bytesPerRow: bytesPerRow)
                for index in 0..<count { sink.normalize(base + index * bytesPerRow, count: source.width) }
            } emit: { (row) throws(WebImageError) in
                sink.put(row)
            }
        }
    }

    /// Returns the metadata of an image that was decoded by a plan.
    package static func metadata(
        _ properties: ImageProperties,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions
    ) -> ImageMetadata {
        var metadata = ImageMetadata()
        metadata.format = properties.format
        metadata.sourceWidth = properties.width
        metadata.sourceHeight = properties.height
        metadata.sourceOrientation = properties.orientation
        metadata.frameCount = properties.frameCount
        metadata.pageCount = properties.pageCount
        metadata.loopCount = properties.loopCount
        metadata.colorProfile = properties.colorProfile
        metadata.isThumbnail = plan.isThumbnail
        metadata.scaleDownLimitBytes = plan.scaleDownLimitBytes
        return options.decodeFirstFrameOnly ? metadata.ofFirstFrame : metadata
    }
}

extension ScanlineLayout {
    /// A Boolean value that indicates whether pixels can be transparent.
    package var hasAlpha: Bool { self == .rgba8 || self == .bgra8Premultiplied || self == .rgbaFloat }
}
