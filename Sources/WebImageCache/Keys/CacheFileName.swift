/// The name of a cache entry's file: the key's MD5 in 32 hexadecimal digits, and the key's path extension if it has one.
///
/// MD5 only spreads the names; that two keys could share one is caught by comparing the key stored in the file.
struct CacheFileName: Sendable, Hashable {
    /// Most bytes of a file name.
    static let maximumByteCount = 255
    private static let digitCount = 32

    let string: String

    init(key: String) {
        let ext = Self.fileExtension(forKey: key)
        string = Hashing.md5Hex(key, suffix: ext.isEmpty ? "" : "." + ext)
    }

    /// The extension for a key: that of its path, without what a file name cannot hold; none when it is too long.
    static func fileExtension(forKey key: String) -> String {
        var ext = KeyParts(key).pathExtension
        if ext.utf8.contains(where: isForbidden) {
            ext = String(decoding: ext.utf8.filter { !isForbidden($0) }, as: UTF8.self)
        }
        return ext.utf8.count > maximumByteCount - digitCount - 1 ? "" : ext
    }

    /// Whether a file of this name is an entry: 32 lower-case hexadecimal digits, then nothing or an extension.
    static func isEntryName(_ name: some Collection<UInt8>) -> Bool {
        let digits = name.prefix(digitCount)
        guard digits.count == digitCount, digits.allSatisfy({ $0.isASCIIDigit || (97...102).contains($0) }) else {
            return false
        }
        let rest = name.dropFirst(digitCount)
        guard let first = rest.first else { return true }
        // What is not text is not of a key, and could not be told by a string.
        return first == UInt8(ascii: ".") && rest.count > 1
            && (rest.allSatisfy { $0 < 0x80 } || String(validating: rest, as: UTF8.self) != nil)
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte == 0 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }
}
