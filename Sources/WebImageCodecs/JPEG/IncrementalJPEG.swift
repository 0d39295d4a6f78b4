import FoundationEssentials
import Glibc

/// An incremental decoder of JPEG.
final class IncrementalJPEG: IncrementalImage {
    private let options: ImageDecodeOptions
    private var walker: JPEGSegmentWalker
    private(set) var properties: ImageProperties?
    private var work: Work?
    private var deadline: DecodeDeadline?

    /// The state from the first scan on.
    private struct Work {
        let plan: DecodePlan
        let decoder: IncrementalJPEGDecoder
        /// Nil for an image of one scan.
        var scans: JPEGScanCounter?
        let scanLimit: Int
        /// Nil until rows can be read; for an image of several scans, until the last one is complete.
        var buffer: RowBuffer?
        var isDone = false
    }

    init(options: ImageDecodeOptions) {
        self.options = options
        walker = JPEGSegmentWalker(options.limits)
    }

    func limit(to deadline: DecodeDeadline) {
        self.deadline = deadline
        work?.decoder.deadline = deadline
    }

    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool {
        try data.withBytes { (bytes) throws(WebImageError) in
            if work == nil {
                guard isFinished || bytes.count >= 4 else { return true }
                try walker.walk(bytes)
                try readSize(bytes)
                guard walker.isDone || isFinished else { return true }
                work = try begin(try walker.header(bytes))
            }
            // Without work the image must be complete.
            guard var work else { return false }
            if !work.isDone {
                do throws(WebImageError) {
                    try proceed(&work, bytes, isFinished: isFinished)
                } catch {
                    // The decode of the complete data decides, and only that may paint over damage.
                    let isDamage = error.code == .badImageData && !options.refusesDamagedData
                    guard work.decoder.hasFoundBadCode || isDamage else { throw error }
                    self.work = nil
                    return false
                }
                if work.isDone, hasOddFill(bytes) {
                    self.work = nil
                    return false
                }
            }
            self.work = work
            return true
        }
    }

    /// Returns whether bytes of the scans are damaged in the one way that libjpeg-turbo does not report, but decodes differently where bytes are
    /// running out: a data byte of 255 that is repeated. No encoder writes that.
    private func hasOddFill(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = walker.scanStart, start < bytes.count else { return false }
        var rest = bytes[start...]
        while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, let found = memchr(base, 0xFF, rest.count)
        {
            let place = rest.startIndex + (UnsafeRawPointer(found) - base)
            guard place + 2 < bytes.count else { return false }
            if bytes[place + 1] == 0xFF, bytes[place + 2] == 0 { return true }
            rest = bytes[(place + 1)...]
        }
        return false
    }

    /// Reads the properties as soon as the frame header is there: profiles, thumbnails and comments of any length may follow it.
    private func readSize(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        guard properties == nil, let header = walker.beginning(bytes) else { return }
        try options.limits.check(width: header.frame.width, height: header.frame.height)
        properties = JPEGCoder.properties(header, options.limits)
    }

    private func begin(_ header: JPEGHeader) throws(WebImageError) -> Work? {
        let properties = JPEGCoder.properties(header, options.limits)
        self.properties = properties
        let plan = try DecodePlan.make(for: properties, options: options)
        try options.limits.check(decodedByteCount: header.coefficientByteCount)
        guard !header.frame.isArithmetic else { return nil }
        let (layout, profile) = JPEGCoder.layout(header, plan, options)
        let scanLimit = JPEGCoder.scanLimit(header.frame, options.limits)
        let decoder = try IncrementalJPEGDecoder(
            size: (header.frame.width, header.frame.height),
            layout: layout,
            colorProfile: profile,
            eighths: JPEGCoder.eighths(for: plan, header.frame, options.scalingQuality),
            maximumScanCount: scanLimit
        )
        decoder.deadline = deadline
        // The rows are kept for previews; a decoder of complete images does not need that memory.
        let kept = RowBuffer.byteCount(width: decoder.width, height: decoder.height, layout: layout)
        guard kept <= options.limits.maximumDecodedByteCount else { return nil }
        return Work(plan: plan, decoder: decoder, scans: JPEGScanCounter(header), scanLimit: scanLimit)
    }

    private func proceed(
        _ work: inout Work,
        _ bytes: UnsafeRawBufferPointer,
        isFinished: Bool
    ) throws(WebImageError) {
        let decoder = work.decoder
        try work.scans?.count(bytes, limit: work.scanLimit)
        decoder.feed(bytes, isWhole: isFinished)
        guard try decoder.begin() else { return }
        if decoder.hasScans {
            work.isDone = try decoder.absorb()
            if work.isDone {
                let buffer = try decoder.makeImage()
                try decoder.readLastPass(into: buffer)
                work.buffer = buffer
            }
        } else {
            if work.buffer == nil { work.buffer = try decoder.makeImage() }
            guard let buffer = work.buffer else { return }
            work.isDone = try decoder.readAvailable(into: buffer)
        }
    }

    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image? {
        guard let properties, let work else { return nil }
        if let buffer = work.buffer {
            guard buffer.rowCount > 0 else { return nil }
            return try preview(of: buffer, properties, work.plan, maximumPixelCount)
        }
        guard let pass = try work.decoder.beginPass() else { return nil }
        do throws(WebImageError) {
            let image = try preview(of: pass, properties, work.plan, maximumPixelCount)
            try pass.end()
            return image
        } catch {
            try? pass.end()
            throw error
        }
    }

    private func preview(
        of rows: any ReceivedRows,
        _ properties: ImageProperties,
        _ plan: DecodePlan,
        _ maximumPixelCount: Int
    ) throws(WebImageError) -> Image? {
        try ImageAssembler.makePreview(
            of: rows,
            properties: properties,
            plan: plan,
            options: options,
            maximumPixelCount: maximumPixelCount
        )
    }

    func image() throws(WebImageError) -> Image {
        guard let properties, let work, let buffer = work.buffer else {
            throw WebImageError(.badImageData, "the JPEG ends before its image data")
        }
        return try buffer.image(properties: properties, plan: work.plan, options: options)
    }
}
