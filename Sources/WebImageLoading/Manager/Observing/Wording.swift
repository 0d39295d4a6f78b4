/// Formats numbers as text, independent of the locale.
enum Wording {
    /// "512 B", "1.5 KB", "12 MB": powers of 1 000, one decimal below 10.
    static func bytes(_ count: Int64) -> String {
        let units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"]
        var value = Double(count)
        var unit = 0
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return unit == 0 ? "\(count) B" : "\(number(value)) \(units[unit])"
    }

    /// "0.3 ms", "41 ms", "1.4 s", "2 min 5 s".
    static func duration(_ nanoseconds: UInt64) -> String { duration(seconds: Double(nanoseconds) / 1e9) }

    /// The same for seconds; "0 s" for an invalid duration.
    static func duration(seconds: Double) -> String {
        guard seconds > 0, seconds.isFinite else { return "0 s" }
        if seconds < 0.00005 { return "less than 0.1 ms" }
        if seconds < 0.9995 { return "\(number(seconds * 1000)) ms" }
        if seconds < 99.5 { return "\(number(seconds)) s" }
        guard seconds < 1e15 else { return "forever" }
        let whole = Int(seconds.rounded())
        return "\(whole / 60) min \(whole % 60) s"
    }

    /// "1 redirect", "3 redirects".
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Returns the text with a capital first letter.
    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    /// One decimal below 10, omitted if it is 0.
    private static func number(_ value: Double) -> String {
        guard value < 9.95 else { return "\(Int(value.rounded()))" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
