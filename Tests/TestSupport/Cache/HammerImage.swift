public import FoundationEssentials

/// Bytes that a test can recognize: every byte follows from a number and a version that are in the first sixteen.
public enum HammerImage {
    /// The key of an image.
    public static func key(_ number: Int) -> String { "https://pictures.example/\(number).jpg" }

    /// The bytes of an image; between 16 bytes and 40 KiB, by number and version.
    public static func bytes(_ number: Int, version: Int) -> Data {
        var random = SeededGenerator(seed: UInt64(number) << 32 | UInt64(version))
        let words = 2 + Int.random(in: 0..<(number % 4 == 0 ? 5_000 : 500), using: &random)
        var output: [UInt64] = [UInt64(number), UInt64(version)]
        while output.count < words { output.append(random.next()) }
        return output.withUnsafeBytes { Data($0) }
    }

    /// An entity tag of an image, every byte of which follows from its beginning; none for every eighth image.
    public static func etag(_ number: Int, version: Int, count: Int) -> String? {
        guard number % 8 != 0 else { return nil }
        return "\"\(number)-\(version)-" + String(repeating: "\(version % 10)", count: count) + "\""
    }

    /// Returns whether `etag` is some entity tag of the image, byte for byte.
    public static func isWhole(etag: String?, number: Int) -> Bool {
        guard let etag, number % 8 != 0 else { return etag == nil && number % 8 == 0 }
        let parts = etag.dropFirst().dropLast().split(separator: "-")
        guard parts.count == 3, let version = Int(parts[1]) else { return false }
        return etag == self.etag(number, version: version, count: parts[2].count)
    }

    /// Returns whether `data` is some version of the image, byte for byte.
    public static func isWhole(_ data: Data, number: Int) -> Bool {
        guard data.count >= 16 else { return false }
        let (stored, version) = data.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        guard stored == UInt64(number), version < 1_000_000 else { return false }
        return data == bytes(number, version: Int(version))
    }
}
