package import FoundationEssentials

extension JPEGCoder: RowCoder {
    package func rows(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> (any ScanlineSource)? {
        // The address of data that is not changed stays valid as long as the caller retains it.
        let bytes = data.withBytes { $0 }
        let header = try JPEGHeader(bytes, limits: options.limits)
        try options.limits.check(decodedByteCount: header.coefficientByteCount)
        let scanLimit = Self.scanLimit(header.frame, options.limits)
        if var counter = JPEGScanCounter(header) { try counter.count(bytes, limit: scanLimit) }
        let (width, height) = (header.frame.width, header.frame.height)
        let plan = DecodePlan(width: width, height: height, orientation: .up, isThumbnail: false)
        let (layout, profile) = Self.layout(header, plan, options)
        let source = try JPEGScanlineSource(
            bytes,
            header,
            JPEGScanlineSource.Settings(
                layout: layout == .bgra8Premultiplied ? .rgb8 : layout,
                colorProfile: profile,
                eighths: 8,
                maximumScanCount: scanLimit,
                toleratesDamage: !options.refusesDamagedData,
                deadline: DecodeDeadline(options.limits)
            )
        )
        // The caller limits the time of the rows, between which it can pause.
        source.removeDeadline()
        return source
    }
}

extension PNGCoder: RowCoder {
    package func rows(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> (any ScanlineSource)? {
        let header = try Self.header(of: data, limits: options.limits)
        // The frames of animations are drawn on a canvas.
        guard header.poster == nil else { return nil }
        let isWide = header.needsHighBitDepthRows
        return try PNGRowReader(data, header: header, limits: options.limits, isHighBitDepth: isWide)
    }
}

extension BMPCoder: RowCoder {
    package func rows(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> (any ScanlineSource)? {
        // The address of data that is not changed stays valid as long as the caller retains it.
        let bytes = data.withBytes { $0 }
        let header = try BMPHeader(bytes)
        guard Self.coderOfPayload(header) == nil else { return nil }
        let profile = Self.profile(header, bytes, options.limits)
        if let runs = try Self.runs(header, bytes) {
            return BMPRunReader(bytes, header: header, runs: runs, colorProfile: profile)
        }
        return BMPPixelReader(bytes, header: header, colorProfile: profile)
    }
}
