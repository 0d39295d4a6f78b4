import CLinux
import CXXHash

/// Hashes from the C libraries, over bytes in memory.
package enum Hashing {
    /// XXH3, 64 bits: for checksums. Not secure against forgery.
    package static func xxh3(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        webimage_xxh3(bytes.baseAddress, bytes.count)
    }

    /// XXH3, 64 bits, with a seed.
    package static func xxh3(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, seed)
    }

    /// MD5 of the UTF-8 bytes of `string` in 32 lower-case hexadecimal digits: for file names.
    ///
    /// - Parameter suffix: text that follows the digits.
    package static func md5Hex(_ string: String, suffix: String = "") -> String {
        string.utf8Span.span.withUnsafeBufferPointer { bytes in
            suffix.utf8Span.span.withUnsafeBufferPointer { md5Hex(bytes, suffix: $0) }
        }
    }

    /// MD5 of bytes in 32 lower-case hexadecimal digits, followed by a suffix of UTF-8.
    package static func md5Hex(
        _ bytes: UnsafeBufferPointer<UInt8>,
        suffix: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0)
    ) -> String {
        var digest: (UInt64, UInt64) = (0, 0)
        return withUnsafeMutableBytes(of: &digest) { digest in
            webimage_md5(bytes.baseAddress, bytes.count, digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
            let count = digest.count * 2
            return String(unsafeUninitializedCapacity: count + suffix.count) { output in
                let digits = Self.digits.utf8Start
                for index in 0..<digest.count {
                    output.initializeElement(at: index * 2, to: digits[Int(digest[index] >> 4)])
                    output.initializeElement(at: index * 2 + 1, to: digits[Int(digest[index] & 15)])
                }
                for index in 0..<suffix.count { output.initializeElement(at: count + index, to: suffix[index]) }
                return count + suffix.count
            }
        }
    }

    private static let digits: StaticString = "0123456789abcdef"
}
