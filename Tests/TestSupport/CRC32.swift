public import FoundationEssentials

/// The checksum of PNG's chunks.
public enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(byte) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }

    /// The checksum of some bytes.
    public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var result = UInt32.max
        for byte in bytes { result = table[Int(UInt8(truncatingIfNeeded: result) ^ byte)] ^ result >> 8 }
        return ~result
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
