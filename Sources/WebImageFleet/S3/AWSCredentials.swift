import FoundationEssentials
import Glibc

/// The keys that sign requests. Their description does not contain them.
struct AWSCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let keyID: String
    let secret: String
    /// The token of temporary credentials, which is sent with each request.
    let token: String?
    /// The time at which they end, in seconds since 1970; nil if they do not.
    let expiry: Double?

    /// Returns nil for empty or too long values, and for those that are not visible ASCII: they become header fields.
    init?(keyID: String, secret: String, token: String? = nil, expiry: Double? = nil) {
        let token = token.flatMap { $0.isEmpty ? nil : $0 }
        guard Self.isValid(keyID, limit: 256), Self.isValid(secret, limit: 1024),
            token.map({ Self.isValid($0, limit: 16 << 10) }) ?? true
        else { return nil }
        (self.keyID, self.secret, self.token, self.expiry) = (keyID, secret, token, expiry)
    }

    private static func isValid(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }

    var description: String { "AWS credentials" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension AWSCredentials {
    private struct Document: Decodable {
        var keyID: String
        var secret: String
        var token: String
        var expiry: String

        enum CodingKeys: String, CodingKey {
            case keyID = "AccessKeyId"
            case secret = "SecretAccessKey"
            case token = "Token"
            case expiry = "Expiration"
        }
    }

    /// Reads the document of a metadata service; nil if it is something else.
    init?(json: Data) {
        guard let document = try? JSONDecoder().decode(Document.self, from: json),
            let expiry = Self.time(document.expiry)
        else { return nil }
        self.init(keyID: document.keyID, secret: document.secret, token: document.token, expiry: expiry)
    }

    /// Reads a profile of a shared credentials file; nil if it has no keys.
    init?(profile: String, inFile text: String) {
        var isInside = false
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop(while: \.isWhitespace)
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[" {
                let name = line.dropFirst().prefix { $0 != "]" }.split(whereSeparator: \.isWhitespace)
                isInside = name == [Substring(profile)] || name == ["profile", Substring(profile)]
            } else if isInside, let sign = line.firstIndex(of: "=") {
                func word(_ text: Substring) -> String {
                    text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
                }
                values[word(line[..<sign]).lowercased()] = word(line[line.index(after: sign)...])
            }
        }
        guard let keyID = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else { return nil }
        self.init(keyID: keyID, secret: secret, token: values["aws_session_token"])
    }

    /// Parses `2026-11-28T03:44:10Z`; a fraction of a second is ignored.
    static func time(_ text: String) -> Double? {
        guard text.hasSuffix("Z"), let seconds = text.dropLast().split(separator: ".", maxSplits: 1).first,
            seconds.utf8.count == 19
        else { return nil }
        let bytes = Array(seconds.utf8)
        for (index, sign) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] where bytes[index] != sign.utf8.first
        {
            return nil
        }
        func number(_ start: Int, _ count: Int) -> Int? {
            let digits = bytes[start..<(start + count)]
            guard digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
            return digits.reduce(0) { 10 * $0 + Int($1) - 48 }
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
            let minute = number(14, 2), let second = number(17, 2), year >= 1970, (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
        return Double(timegm(&parts))
    }
}
