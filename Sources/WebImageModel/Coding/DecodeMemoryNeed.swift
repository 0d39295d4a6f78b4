public import FoundationEssentials

/// What one decode takes of memory at its peak, as far as the header tells.
///
/// Never less than what the decode really takes, apart from a decoder's fixed tables of less than a megabyte.
public struct DecodeMemoryNeed: Sendable, Hashable {
    /// Bytes of the pixels that the decode returns.
    public var outputByteCount: Int
    /// Bytes that it needs besides until it returns: rows, coefficients, canvases, what the C library keeps.
    public var workingByteCount: Int

    /// A need of so many bytes. Values below 0 count as 0.
    public init(outputByteCount: Int, workingByteCount: Int) {
        self.outputByteCount = max(0, outputByteCount)
        self.workingByteCount = max(0, workingByteCount)
    }

    /// Both together, in bytes; the greatest number there is if the sum would be greater.
    public var totalByteCount: Int {
        let (sum, overflow) = outputByteCount.addingReportingOverflow(workingByteCount)
        return overflow ? .max : sum
    }
}

extension ImageCoder {
    /// What a decode takes that nothing more is known of: the whole picture at four bytes a pixel, eight for a wide one, twice.
    ///
    /// - Throws: what ``properties(of:limits:)`` throws.
    public func memoryNeed(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        let properties = try properties(of: data, limits: options.limits)
        let (pixels, overflow) = properties.width.multipliedReportingOverflow(by: properties.height)
        let (bytes, tooMany) = pixels.multipliedReportingOverflow(by: properties.isWide ? 8 : 4)
        let whole = overflow || tooMany ? Int.max : bytes
        return DecodeMemoryNeed(outputByteCount: whole, workingByteCount: whole)
    }
}
