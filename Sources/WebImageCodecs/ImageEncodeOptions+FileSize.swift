package import FoundationEssentials

extension ImageEncodeOptions {
    /// Encodes with these options, or, with ``maxFileSize``, in the best quality whose result is not bigger.
    ///
    /// Bigger qualities are taken to give more bytes, which holds but for a few bytes: the result is within the limit in any
    /// case, and at most a step or two from the best.
    ///
    /// - Parameters:
    ///   - isLossless: whether quality changes nothing, so that there is nothing to search.
    ///   - encode: makes the bytes with a ``compressionQuality`` of the search. Called once without a limit, up to eight times
    ///     with one; never for longer than it takes to know.
    /// - Throws: what `encode` throws; ``WebImageError/Code/limitExceeded`` naming `maxFileSize`, with the fewest bytes found,
    ///   when that is too many.
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
        // Hundredths; those from `high` on are too much.
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
