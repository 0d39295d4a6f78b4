/// The framing of a response's body. Pure.
enum ResponseFraming {
    /// Returns the error if the framing is anything but a single length or plain chunks; nil if it is valid.
    ///
    /// libcurl decodes a compressed transfer coding even if it was not requested, and intermediaries interpret conflicting lengths
    /// differently.
    static func problem(of headers: HTTPHeaders) -> WebImageError? {
        if let coding = headers["Transfer-Encoding"] {
            if headers["Content-Length"] != nil {
                return WebImageError(.transportFailed, "the response has both a length and a transfer coding")
            }
            if elements(coding.lowercased()) == ["chunked"] { return nil }
            return WebImageError(.transportFailed, "the transfer coding '\(coding.prefix(60))' is refused")
        }
        guard let value = headers["Content-Length"] else { return nil }
        let lengths = Set(elements(value))
        if lengths.count == 1, lengths.allSatisfy({ $0.utf8.allSatisfy(\.isASCIIDigit) }) { return nil }
        return WebImageError(.transportFailed, "invalid announced length '\(value.prefix(60))'")
    }

    private static func elements(_ list: String) -> [String] {
        list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    }

    /// Returns whether the announced length is a number that does not fit 64 bits. libcurl treats it as missing.
    static func isBeyondNumbers(_ headers: HTTPHeaders) -> Bool {
        guard headers["Transfer-Encoding"] == nil, let value = headers["Content-Length"] else { return false }
        let digits = value.utf8.prefix { $0 != UInt8(ascii: ",") }.filter { $0 != 32 && $0 != 9 }
        return !digits.isEmpty && digits.allSatisfy { (48...57).contains($0) }
            && Int64(String(decoding: digits, as: UTF8.self)) == nil
    }
}
