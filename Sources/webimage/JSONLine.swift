import FoundationEssentials

/// Formats output as one JSON object per line.
enum JSONLine {
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "{}\n" }
        return escaped(String(decoding: data, as: UTF8.self)) + "\n"
    }

    /// Escapes the control characters that the encoder leaves and a terminal would interpret. They occur only within strings.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard scalar.isControl else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in UTF16.encode(scalar) ?? .init() {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }

    /// Formats a time as ISO 8601 with milliseconds, in UTC.
    static func time(_ secondsSince1970: Double) -> String {
        Date(timeIntervalSince1970: secondsSince1970).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        )
    }

    struct Failure: Encodable {
        struct Details: Encodable {
            var code: Int
            var message: String
        }
        var source: String
        var error: Details
        var pass: Int?
        var explanation: String?
    }
}
