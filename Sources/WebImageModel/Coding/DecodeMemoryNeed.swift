public import FoundationEssentials

/// An estimate of one decode's peak memory, from the header.
///
/// Never less than what the decode really takes, apart from a decoder's fixed tables of less than a megabyte.
public struct DecodeMemoryNeed: Sendable, Hashable {
    /// The number of bytes of the pixels that the decode returns.
    package var outputByteCount: Int
    /// The number of additional bytes that it needs until it returns: rows, coefficients, canvases, the C library's buffers.
    package var workingByteCount: Int

    /// Creates a need. Values below 0 count as 0.
    public init(outputByteCount: Int, workingByteCount: Int) {
        self.outputByteCount = max(0, outputByteCount)
        self.workingByteCount = max(0, workingByteCount)
    }

    /// The sum of both in bytes, saturated at `Int.max`.
    package var totalByteCount: Int {
        let (sum, overflow) = outputByteCount.addingReportingOverflow(workingByteCount)
        return overflow ? .max : sum
    }
}

extension ImageCoder {
    /// Returns the default estimate: the whole image twice, at four bytes a pixel, or eight for high bit depth.
    ///
    /// - Throws: what ``properties(of:limits:)`` throws.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let properties = try properties(of: data, limits: options.limits)
        let (pixels, overflow) = properties.width.multipliedReportingOverflow(by: properties.height)
        let (bytes, tooMany) = pixels.multipliedReportingOverflow(by: properties.isHighBitDepth ? 8 : 4)
        let whole = overflow || tooMany ? Int.max : bytes
        return DecodeMemoryNeed(outputByteCount: whole, workingByteCount: whole)
    }
}
