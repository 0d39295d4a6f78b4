/// Formats durations as text.
enum DurationFormat {
    /// Returns "12 s", "5 min", "3 h", "40 days": whole units, rounded down, of the largest unit with at least one.
    static func describe(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e12 else { return "ever" }
        let units: [(length: Double, name: String)] = [(86_400, "day"), (3600, "h"), (60, "min")]
        for unit in units where seconds >= unit.length {
            let count = Int(seconds / unit.length)
            return "\(count) \(unit.name)" + (unit.name == "day" && count != 1 ? "s" : "")
        }
        return "\(Int(max(seconds, 0))) s"
    }
}
