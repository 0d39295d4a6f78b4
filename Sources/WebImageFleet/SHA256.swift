import CTLSShims
import FoundationEssentials

/// SHA-256 and its message authentication code (HMAC), by OpenSSL. Nil if the system's cryptographic policy does not allow them.
enum SHA256 {
    static let byteCount = 32

    /// Returns the 32 bytes of a hash.
    static func hash(_ bytes: some ContiguousBytes) -> [UInt8]? {
        made { hash in bytes.withUnsafeBytes { webimage_sha256($0.baseAddress, $0.count, hash) } }
    }

    /// Returns the 32 bytes of a message's authentication code.
    static func code(of message: some ContiguousBytes, key: some ContiguousBytes) -> [UInt8]? {
        made { code in
            key.withUnsafeBytes { key in
                message.withUnsafeBytes {
                    webimage_hmac_sha256(key.baseAddress, key.count, $0.baseAddress, $0.count, code)
                }
            }
        }
    }

    private static func made(_ body: (UnsafeMutableRawPointer?) -> Bool) -> [UInt8]? {
        var isMade = false
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            isMade = body(buffer.baseAddress)
            count = isMade ? byteCount : 0
        }
        return isMade ? bytes : nil
    }

    /// Returns lower-case hexadecimal digits.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
