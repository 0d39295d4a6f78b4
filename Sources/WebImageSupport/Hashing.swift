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
        var copy = string
        var digest: (UInt64, UInt64) = (0, 0)
        copy.withUTF8 { bytes in
            withUnsafeMutableBytes(of: &digest) {
                webimage_md5(bytes.baseAddress, bytes.count, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
        }
        return withUnsafeBytes(of: &digest) { hex($0, suffix: suffix) }
    }

    /// Returns the lower-case hexadecimal digits of `bytes`, followed by a suffix.
    private static func hex(_ bytes: UnsafeRawBufferPointer, suffix: String) -> String {
        let count = bytes.count * 2
        return String(unsafeUninitializedCapacity: count + suffix.utf8.count) { output in
            for (index, byte) in bytes.enumerated() {
                output.initializeElement(at: index * 2, to: digit(byte >> 4))
                output.initializeElement(at: index * 2 + 1, to: digit(byte & 15))
            }
            _ = output[count...].initialize(fromContentsOf: suffix.utf8)
            return count + suffix.utf8.count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}
