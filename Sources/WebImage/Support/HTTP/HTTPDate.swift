/// Dates in header fields: the three forms of RFC 9110, 5.6.7.
enum HTTPDate {
    /// Seconds since 1970-01-01 00:00 UTC; nil when the text is no date.
    ///
    /// - Parameter now: the present in the same measure. Of the years that end in the two digits of the old form, the last one
    ///   that is not more than 50 years away in the future is meant.
    static func parse(_ text: String, now: Double) -> Double? {
        let trimmed = HTTPHeaders.trimmed(text.utf8[...])
        // One space between two parts: with more it is no date, except before a day of one digit in the third form.
        var parts = trimmed.split(separator: " ", omittingEmptySubsequences: false)
        guard let weekday = parts.first, isWord(weekday) else { return nil }
        if parts.count == 6, weekday.hasSuffix(","), isGMT(parts[5]) {
            // Sun, 06 Nov 1994 08:49:37 GMT
            guard let year = number(parts[3], digits: 4...4) else { return nil }
            return seconds(year: year, month: parts[2], day: parts[1], time: parts[4])
        }
        if parts.count == 4, weekday.hasSuffix(","), isGMT(parts[3]) {
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, let year = number(date[2], digits: 2...2) else { return nil }
            return seconds(lastDigits: year, month: date[1], day: date[0], time: parts[2], now: now)
        }
        if parts.count == 6, parts[2].isEmpty, parts[3].utf8.count == 1 { parts.remove(at: 2) }
        if parts.count == 5, !weekday.hasSuffix(",") {
            // Sun Nov  6 08:49:37 1994
            guard let year = number(parts[4], digits: 4...4) else { return nil }
            return seconds(year: year, month: parts[1], day: parts[2], time: parts[3])
        }
        return nil
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func isGMT(_ text: Substring) -> Bool { text == "GMT" || text.lowercased() == "gmt" }

    private static func isWord(_ text: Substring) -> Bool {
        let letters = text.hasSuffix(",") ? text.dropLast() : text
        return letters.utf8.count >= 3 && letters.utf8.allSatisfy { (97...122).contains($0 | 0x20) }
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// In the last year with those digits of which the date is not more than 50 years away in the future.
    private static func seconds(
        lastDigits: Int,
        month: Substring,
        day: Substring,
        time: Substring,
        now: Double
    ) -> Double? {
        let now = now > 0 ? min(now, 1e11) : 0
        let present = year(ofDay: Int(now / 86_400))
        var year = present - present % 100 + lastDigits
        if year > present + 50 { year -= 100 } else if year + 100 <= present + 50 { year += 100 }
        let date = seconds(year: year, month: month, day: day, time: time)
        guard year == present + 50, let date else { return date }
        let halfCentury = Double(firstDay(ofYear: year) - firstDay(ofYear: present)) * 86_400
        return date - halfCentury <= now ? date : seconds(year: year - 100, month: month, day: day, time: time)
    }

    private static func seconds(year: Int, month name: Substring, day: Substring, time: Substring) -> Double? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: name.lowercased()), let day = number(day, digits: 1...2),
            (1...length(ofMonth: month, year: year)).contains(day), parts.count == 3,
            let hour = number(parts[0], digits: 2...2), hour < 24,
            let minute = number(parts[1], digits: 2...2), minute < 60,
            // A leap second has the number 60.
            let second = number(parts[2], digits: 2...2), second <= 60
        else { return nil }
        return Double(days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 1: isLeap(year) ? 29 : 28
        case 3, 5, 8, 10: 30
        default: 31
        }
    }

    /// Days since 1970-01-01; `month` counts from 0.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let before = (0..<month).reduce(0) { $0 + length(ofMonth: $1, year: year) }
        return firstDay(ofYear: year) + before + day - 1
    }

    private static func firstDay(ofYear year: Int) -> Int {
        // Leap days before the year, less those before 1970.
        let past = max(year - 1, 0)
        return (year - 1970) * 365 + past / 4 - past / 100 + past / 400 - 477
    }

    private static func year(ofDay day: Int) -> Int {
        var year = 1970 + day / 366
        while firstDay(ofYear: year + 1) <= day { year += 1 }
        return year
    }
}
