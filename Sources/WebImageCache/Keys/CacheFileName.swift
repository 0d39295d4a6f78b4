/// The file name of a cache entry: the key's MD5 in 32 hexadecimal digits, plus the key's path extension, if any.
///
/// MD5 only distributes the names; a collision is detected by comparing the key stored in the file.
struct CacheFileName: Sendable, Hashable {
    /// The maximum number of bytes of a file name.
    static let maximumByteCount = 255
    private static let digitCount = 32

    let string: String

    init(key: String) {
        if let name = Self.nameWithPlainExtension(forKey: key) {
            string = name
        } else {
            let ext = Self.fileExtension(forKey: key)
            string = Hashing.md5Hex(key, suffix: ext.isEmpty ? "" : "." + ext)
        }
    }

    /// Returns the name for a key whose extension, if it has one, is used as it is written; nil for other keys. The names of nearly all keys, several
    /// times as fast.
    private static func nameWithPlainExtension(forKey key: String) -> String? {
        key.utf8Span.span.withUnsafeBufferPointer { bytes in
            guard let ext = KeyParts.textAfterDot(in: bytes) else { return Hashing.md5Hex(bytes) }
            guard ext.count <= maximumByteCount - digitCount - 1,
                !bytes[ext].contains(where: { isForbidden($0) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: " ") })
            else { return nil }
            return Hashing.md5Hex(
                bytes,
                suffix: UnsafeBufferPointer(rebasing: bytes[(ext.lowerBound - 1)..<ext.upperBound])
            )
        }
    }

    /// Returns the file extension for a key: that of its path, without characters that are invalid in file names; empty if it is
    /// too long.
    static func fileExtension(forKey key: String) -> String {
        var ext = KeyParts(key).pathExtension
        if ext.utf8.contains(where: isForbidden) {
            ext = String(decoding: ext.utf8.filter { !isForbidden($0) }, as: UTF8.self)
        }
        return ext.utf8.count > maximumByteCount - digitCount - 1 ? "" : ext
    }

    /// Returns whether a file of this name is an entry: 32 lower-case hexadecimal digits, then nothing or an extension.
    static func isEntryName(_ name: some Collection<UInt8>) -> Bool {
        let digits = name.prefix(digitCount)
        guard digits.count == digitCount, digits.allSatisfy({ $0.isASCIIDigit || (97...102).contains($0) }) else {
            return false
        }
        let rest = name.dropFirst(digitCount)
        guard let first = rest.first else { return true }
        // Invalid UTF-8 does not come from a key, and a string could not represent it.
        return first == UInt8(ascii: ".") && rest.count > 1
            && (rest.allSatisfy { $0 < 0x80 } || String(validating: rest, as: UTF8.self) != nil)
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte == 0 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }
}
