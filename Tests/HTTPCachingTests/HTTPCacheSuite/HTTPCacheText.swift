import WebImage

/// Fills in what stands in braces in a case.
enum HTTPCacheText {
    /// - Parameter now: Seconds since 1970, for `{now}`.
    static func filled(_ value: String, now: Double) -> String {
        var result = value.replacing("{space}", with: " ")
        // All images have the same number of bytes.
        result = result.replacing("{length}", with: "\(HTTPCacheOrigin.body(ofStep: 0).count)")
        while let start = result.firstRange(of: "{now") {
            guard let end = result[start.upperBound...].firstIndex(of: "}") else { return result }
            let offset = Double(result[start.upperBound..<end]) ?? 0
            result.replaceSubrange(start.lowerBound...end, with: date(now + offset))
        }
        return result
    }

    /// Returns an HTTP date, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func date(_ seconds: Double) -> String {
        let total = Int(seconds.rounded(.down))
        let (days, rest) = (total / 86_400, total % 86_400)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days % 7]
        // Years begin in March here, so that leap days come last.
        let shifted = days + 719_468
        let (era, day) = (shifted / 146_097, shifted % 146_097)
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let names = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"]
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map(twoDigits).joined(separator: ":")
        let fullYear = era * 400 + year + (month >= 10 ? 1 : 0)
        return "\(weekday), \(twoDigits(dayOfMonth)) \(names[month]) \(fullYear) \(time) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
