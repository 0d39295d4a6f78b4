import CTestSupport
public import FoundationEssentials

/// The checksum of PNG's chunks.
public enum CRC32 {
    /// The checksum of some bytes.
    public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let bytes = ContiguousArray(bytes)
        return ~bytes.withUnsafeBufferPointer { ctest_crc32(.max, $0.baseAddress, $0.count) }
    }

    /// A PNG file with the checksums of its chunks corrected, as far as its chunks can be parsed.
    public static func repairingPNG(_ data: Data) -> Data {
        var bytes = [UInt8](data)
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = offset + 8 + length
            guard end + 4 <= bytes.count else { break }
            let checksum = of(bytes[offset + 4..<end])
            for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: checksum >> (24 - 8 * index)) }
            offset = end + 4
        }
        return Data(bytes)
    }
}
