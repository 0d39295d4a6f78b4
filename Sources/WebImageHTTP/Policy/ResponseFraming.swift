/// How a response says where its body ends. Pure.
enum ResponseFraming {
    /// What is wrong with the framing for a policy that allows one way only; nil where nothing is.
    ///
    /// A body that is packed for the way is unpacked by libcurl whatever it asked for; and what says two things of its length is
    /// read differently by those on the way.
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
        return WebImageError(.transportFailed, "the announced length '\(value.prefix(60))' is no number")
    }

    private static func elements(_ list: String) -> [String] {
        list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    }

    /// Whether the announced length is a number that 64 bits do not hold. libcurl takes it for none.
    static func isBeyondNumbers(_ headers: HTTPHeaders) -> Bool {
        guard headers["Transfer-Encoding"] == nil, let value = headers["Content-Length"] else { return false }
        let digits = value.utf8.prefix { $0 != UInt8(ascii: ",") }.filter { $0 != 32 && $0 != 9 }
        return !digits.isEmpty && digits.allSatisfy { (48...57).contains($0) }
            && Int64(String(decoding: digits, as: UTF8.self)) == nil
    }
}
