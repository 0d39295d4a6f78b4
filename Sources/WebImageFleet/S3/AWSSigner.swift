import Glibc

/// Signs requests with AWS Signature Version 4, as S3 requires it: the path is encoded once, and the hash of the body is a header field.
/// A pure value.
struct AWSSigner: Sendable {
    /// The parts of a request that are signed.
    struct Request: Sendable {
        var method: String
        /// The path as it is sent, see ``AWSSigner/encoded(path:)``.
        var path: String
        /// The query as it is sent, see ``AWSSigner/encoded(query:)``.
        var query = ""
        /// All header fields that are signed, with `host`. Names are in lower case, and each occurs once.
        var fields: [String: String]
        /// The SHA-256 of the body in hexadecimal digits.
        var bodyHash: String
    }

    /// A time as signatures contain it: `20130524T000000Z`.
    struct Time: Sendable, Hashable {
        let text: String
        /// The first eight digits.
        var date: Substring { text.prefix(8) }

        init(secondsSince1970: Double) {
            var seconds = time_t(min(max(secondsSince1970.isNaN ? 0 : secondsSince1970, 0), 253_402_300_799))
            var parts = tm()
            gmtime_r(&seconds, &parts)
            func digits(_ number: Int32, _ count: Int = 2) -> String {
                let text = String(number)
                return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
            }
            text =
                digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "T"
                + digits(parts.tm_hour) + digits(parts.tm_min) + digits(parts.tm_sec) + "Z"
        }
    }

    let region: String
    var service = "s3"

    /// The SHA-256 of no bytes.
    static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Returns the value of the field `Authorization`; nil if the system's cryptographic policy does not allow the signature.
    func authorization(for request: Request, at time: Time, _ credentials: AWSCredentials) -> String? {
        let scope = "\(time.date)/\(region)/\(service)/aws4_request"
        let names = request.fields.keys.sorted()
        guard let hash = SHA256.hash(Array(canonical(request, names).utf8)) else { return nil }
        let text = "AWS4-HMAC-SHA256\n\(time.text)\n\(scope)\n\(SHA256.hexadecimal(hash))"
        var code = Array("AWS4\(credentials.secret)".utf8)
        for part in [String(time.date), region, service, "aws4_request", text] {
            guard let next = SHA256.code(of: Array(part.utf8), key: code) else { return nil }
            code = next
        }
        return "AWS4-HMAC-SHA256 Credential=\(credentials.keyID)/\(scope), "
            + "SignedHeaders=\(names.joined(separator: ";")), Signature=\(SHA256.hexadecimal(code))"
    }

    private func canonical(_ request: Request, _ names: [String]) -> String {
        let fields = names.map { "\($0):\(request.fields[$0] ?? "")\n" }.joined()
        return "\(request.method)\n\(request.path)\n\(request.query)\n\(fields)\n\(names.joined(separator: ";"))\n"
            + request.bodyHash
    }

    /// Returns a path with all bytes percent-encoded but letters, digits, `-`, `.`, `_`, `~` and `/`.
    static func encoded(path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { encoded(part: $0) }.joined(separator: "/")
    }

    /// Returns a query in the order of its names, in which it is signed, with slashes encoded, too.
    static func encoded(query: [String: String]) -> String {
        query.sorted { $0.key < $1.key }.map { "\(encoded(part: $0.key))=\(encoded(part: $0.value))" }
            .joined(separator: "&")
    }

    private static func encoded(part: some StringProtocol) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = part.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
