/// Dates in header fields: the three forms of RFC 9110, 5.6.7.
package enum HTTPDate {
    /// Returns seconds since 1970-01-01 00:00 UTC; nil if the text is not a date.
    ///
    /// - Parameter now: the current time in the same unit. A two-digit year of the obsolete form means the last such year that is
    ///   not more than 50 years in the future.
    package static func parse(_ text: String, now: Double) -> Double? {
        var text = text
        return text.withUTF8 { bytes in
            withUnsafeTemporaryAllocation(of: Part.self, capacity: 6) { parts in
                // Exactly one space separates two parts, except before a one-digit day in the third form.
                let count = split(trimmed(bytes), at: UInt8(ascii: " "), into: parts)
                return count.flatMap { date(of: parts, count: $0, now: now) }
            }
        }
    }

    /// The bytes of one part of the text. Parts are not strings because dates are parsed for every response.
    private typealias Part = UnsafeBufferPointer<UInt8>

    private static func date(of parts: UnsafeMutableBufferPointer<Part>, count: Int, now: Double) -> Double? {
        let weekday = parts[0]
        let hasComma = weekday.last == UInt8(ascii: ",")
        guard isWord(weekday, hasComma: hasComma) else { return nil }
        if count == 6, hasComma, isGMT(parts[5]) {
            // Sun, 06 Nov 1994 08:49:37 GMT
            guard let year = number(parts[3], digits: 4...4) else { return nil }
            return seconds(year: year, month: parts[2], day: parts[1], time: parts[4])
        }
        if count == 4, hasComma, isGMT(parts[3]) {
            // Sunday, 06-Nov-94 08:49:37 GMT
            return withUnsafeTemporaryAllocation(of: Part.self, capacity: 3) { date in
                guard split(parts[1], at: UInt8(ascii: "-"), into: date) == 3,
                    let year = number(date[2], digits: 2...2)
                else { return nil }
                return seconds(lastDigits: year, month: date[1], day: date[0], time: parts[2], now: now)
            }
        }
        guard !hasComma else { return nil }
        // Sun Nov  6 08:49:37 1994
        let skipped = count == 6 && parts[2].isEmpty && parts[3].count == 1 ? 1 : 0
        guard count == 5 + skipped, let year = number(parts[4 + skipped], digits: 4...4) else { return nil }
        return seconds(year: year, month: parts[1], day: parts[2 + skipped], time: parts[3 + skipped])
    }

    private static func trimmed(_ bytes: Part) -> Part {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        var (start, end) = (0, bytes.count)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return Part(rebasing: bytes[start..<end])
    }

    /// Returns the number of parts; nil if there are more than fit.
    private static func split(
        _ bytes: Part,
        at separator: UInt8,
        into parts: UnsafeMutableBufferPointer<Part>
    ) -> Int? {
        var (count, start) = (0, 0)
        for end in 0...bytes.count where end == bytes.count || bytes[end] == separator {
            guard count < parts.count else { return nil }
            parts.initializeElement(at: count, to: Part(rebasing: bytes[start..<end]))
            count += 1
            start = end + 1
        }
        return count
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func isGMT(_ part: Part) -> Bool { isEqual(part, "gmt") }

    /// Returns whether the part is this word, given in lower case, without regard to case.
    private static func isEqual(_ part: Part, _ word: String) -> Bool {
        part.count == word.utf8.count && zip(part, word.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    private static func isWord(_ part: Part, hasComma: Bool) -> Bool {
        let letters = part.dropLast(hasComma ? 1 : 0)
        return letters.count >= 3 && letters.allSatisfy { (97...122).contains($0 | 0x20) }
    }

    private static func number(_ part: Part, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(part.count), part.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return part.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// Returns the time in the last year with these digits for which the date is not more than 50 years in the future.
    private static func seconds(lastDigits: Int, month: Part, day: Part, time: Part, now: Double) -> Double? {
        let now = now > 0 ? min(now, 1e11) : 0
        let present = year(ofDay: Int(now / 86_400))
        var year = present - present % 100 + lastDigits
        if year > present + 50 { year -= 100 } else if year + 100 <= present + 50 { year += 100 }
        let date = seconds(year: year, month: month, day: day, time: time)
        guard year == present + 50, let date else { return date }
        let halfCentury = Double(firstDay(ofYear: year) - firstDay(ofYear: present)) * 86_400
        return date - halfCentury <= now ? date : seconds(year: year - 100, month: month, day: day, time: time)
    }

    private static func seconds(year: Int, month name: Part, day: Part, time: Part) -> Double? {
        guard let month = months.firstIndex(where: { isEqual(name, $0) }), let day = number(day, digits: 1...2),
            (1...length(ofMonth: month, year: year)).contains(day), let time = secondsOfDay(time)
        else { return nil }
        return Double(days(year: year, month: month, day: day) * 86_400 + time)
    }

    private static func secondsOfDay(_ time: Part) -> Int? {
        withUnsafeTemporaryAllocation(of: Part.self, capacity: 3) { parts in
            guard split(time, at: UInt8(ascii: ":"), into: parts) == 3,
                let hour = number(parts[0], digits: 2...2), hour < 24,
                let minute = number(parts[1], digits: 2...2), minute < 60,
                // A leap second has the number 60.
                let second = number(parts[2], digits: 2...2), second <= 60
            else { return nil }
            return hour * 3600 + minute * 60 + second
        }
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 1: isLeap(year) ? 29 : 28
        case 3, 5, 8, 10: 30
        default: 31
        }
    }

    /// Returns days since 1970-01-01; `month` counts from 0.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let before = (0..<month).reduce(0) { $0 + length(ofMonth: $1, year: year) }
        return firstDay(ofYear: year) + before + day - 1
    }

    private static func firstDay(ofYear year: Int) -> Int {
        // Leap days before the year, minus those before 1970.
        let past = max(year - 1, 0)
        return (year - 1970) * 365 + past / 4 - past / 100 + past / 400 - 477
    }

    private static func year(ofDay day: Int) -> Int {
        var year = 1970 + day / 366
        while firstDay(ofYear: year + 1) <= day { year += 1 }
        return year
    }
}
