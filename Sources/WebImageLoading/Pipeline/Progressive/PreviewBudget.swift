/// Decides when a preview is made, so that all of them together cost no more than a part of the decode itself. Pure.
///
/// The first one is made as soon as there is something to see, unless it draws what is missing at a cost that is known before: then
/// when so much has come that this fits. Whether there is time for another one is judged by what the last
/// one took, and by how long the whole decode will take at the pace so far; of a body of unknown length, by how long it took so far.
struct PreviewBudget: Sendable {
    /// The most that previews may cost, as a part of the decode.
    static let share = 0.25

    private var decoding = 0.0
    private var previewing = 0.0
    private var last: Double?

    /// Decoding took so many seconds more.
    mutating func noteDecode(_ seconds: Double) { decoding += max(seconds, 0) }

    /// A preview took so many seconds.
    mutating func notePreview(_ seconds: Double) {
        last = max(seconds, 0)
        previewing += max(seconds, 0)
    }

    /// Whether there is time for a preview.
    ///
    /// - Parameters:
    ///   - byteCount: bytes that are there.
    ///   - expected: bytes that there will be; nil when that is not known, and then those that are there count as all.
    ///   - missingPartCost: what a preview costs for what is missing, beside decoding that. If it costs anything, there is no
    ///     preview of bodies of unknown length: all of it may be missing.
    func allowsPreview(byteCount: Int, of expected: Int64?, missingPartCost: Double = 0) -> Bool {
        let there = Double(max(byteCount, 0))
        let all = max(Double(expected ?? 0), there)
        let whole = there > 0 ? decoding * all / there : decoding
        if missingPartCost > 0 {
            guard let expected, expected > 0 else { return false }
            return previewing + missingPartCost * (1 - there / all) * whole <= Self.share * whole
        }
        guard let last else { return true }
        return previewing + last <= Self.share * whole
    }
}
