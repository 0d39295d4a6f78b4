package import FoundationEssentials

extension ImageEncodeOptions {
    /// Encodes with these options. With ``maxFileSize``, searches for the highest quality whose result is not larger.
    ///
    /// The search assumes that a higher quality gives more bytes, which holds except for a few bytes. The result is always within the limit, and at
    /// most a step or two below the best quality.
    ///
    /// - Parameters:
    ///   - isLossless: the quality has no effect, so there is nothing to search.
    ///   - encode: encodes with the ``compressionQuality`` that the search tries. Called once without a limit, at most eight times with one.
    /// - Throws: the errors of `encode`; ``WebImageError/Code/limitExceeded`` naming `maxFileSize` when even the smallest result is too large, with
    ///   the size of that result.
    package func withinFileSize(
        isLossless: Bool = false,
        _ encode: (ImageEncodeOptions) throws(WebImageError) -> Data
    ) throws(WebImageError) -> Data {
        guard maxFileSize > 0 else { return try encode(self) }
        var attempt = self
        attempt.maxFileSize = 0
        if !isLossless { attempt.compressionQuality = 1 }
        let best = try encode(attempt)
        guard best.count > maxFileSize else { return best }
        var fewest = best.count
        var found: Data?
        // In hundredths. Qualities from `high` on are too large.
        var (low, high) = (0, isLossless ? 0 : 100)
        while low < high {
            let middle = (low + high) / 2
            attempt.compressionQuality = Double(middle) / 100
            let data = try encode(attempt)
            fewest = min(fewest, data.count)
            if data.count <= maxFileSize {
                found = data
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard let found else { throw .limitExceeded("maxFileSize", allowed: maxFileSize, required: fewest) }
        return found
    }
}
