extension HTTPHeaders {
    /// An error for the first field that must not be sent, or nil: an invalid name, or a value with CR, LF or NUL, which would let
    /// its author inject other fields, or a whole request.
    package var problem: WebImageError? {
        for field in fields {
            guard Self.isToken(field.name) else {
                return WebImageError(.invalidDownloadOperation, "a request field has an invalid name")
            }
            guard field.value.utf8.allSatisfy({ $0 != 0 && $0 != 10 && $0 != 13 }) else {
                return WebImageError(
                    .invalidDownloadOperation,
                    "the request field \(field.name) has a line break or a zero byte in its value"
                )
            }
        }
        return nil
    }

    /// Returns whether a text is a token, as names and methods must be.
    package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
