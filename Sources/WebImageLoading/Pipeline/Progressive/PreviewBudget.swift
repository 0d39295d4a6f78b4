/// Throttles previews, so that all of them together cost no more than a share of the decode itself. Pure logic.
///
/// The first preview is made as soon as anything is visible. If it fills missing parts at a cost known in advance, it waits until
/// that cost fits the budget. Another preview is made if the time of the last one fits the budget. The budget is based on the
/// estimated time of the whole decode, or for a body of unknown length, on the decode time so far. Of an animation, only the
/// first frame is decoded during the download, by its first preview if not before; each further frame counts as much.
struct PreviewBudget: Sendable {
    /// The maximum cost of previews, relative to the decode.
    static let share = 0.25

    private var decoding = 0.0
    private var previewing = 0.0
    private var first: Double?
    private var last: Double?

    /// Adds decode time, in seconds.
    mutating func noteDecode(_ seconds: Double) { decoding += max(seconds, 0) }

    /// Adds the time of a preview, in seconds.
    mutating func notePreview(_ seconds: Double) {
        last = max(seconds, 0)
        first = first ?? last
        previewing += max(seconds, 0)
    }

    /// Returns whether the budget allows a preview.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes received.
    ///   - expected: The total number of bytes; nil if unknown, and then the received bytes count as all.
    ///   - missingPartCost: The cost of filling the missing part in a preview, relative to decoding it. If above 0, bodies of
    ///     unknown length have no previews, as all of it may be missing.
    ///   - frameCount: The number of frames received.
    func allowsPreview(
        byteCount: Int,
        of expected: Int64?,
        missingPartCost: Double = 0,
        frameCount: Int = 1
    ) -> Bool {
        let there = Double(max(byteCount, 0))
        let all = max(Double(expected ?? 0), there)
        let frames = frameCount > 1 ? Double(frameCount) : 0
        let whole = max(decoding * max(there > 0 ? all / there : 1, frames), (first ?? 0) * frames)
        if missingPartCost > 0 {
            guard let expected, expected > 0 else { return false }
            return previewing + missingPartCost * (1 - there / all) * whole <= Self.share * whole
        }
        guard let last else { return true }
        return previewing + last <= Self.share * whole
    }
}
