import FoundationEssentials

/// One JSON object per line on standard output.
enum JSONLine {
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "{}\n" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// A time as ISO 8601 with milliseconds, in UTC.
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
