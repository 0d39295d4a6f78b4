/// The pixels per point given in a key.
enum ImageScaleFactor {
    /// Returns 2 for a key with `@2x.`, 3 with `@3x.` (in web URLs also with the "@" percent-encoded), else 1.
    ///
    /// Linear in the key's length. Every lookup calls it, so it must cost far less than a memory hit.
    static func forKey(_ key: String) -> Double {
        guard key.utf8.count >= 8 else { return 1 }
        var key = key
        return key.withUTF8 { bytes in
            let isWeb = starts(bytes, "http://") || starts(bytes, "https://")
            var hasThree = false
            // The shortest form is "@2x.", and the digit precedes its last two bytes.
            for index in 1..<bytes.count - 2 where bytes[index + 1] == UInt8(ascii: "x") {
                guard bytes[index + 2] == UInt8(ascii: "."), bytes[index] == 0x32 || bytes[index] == 0x33,
                    bytes[index - 1] == UInt8(ascii: "@") || (isWeb && ends(bytes[..<index], "%40"))
                else { continue }
                if bytes[index] == 0x32 { return 2 }
                hasThree = true
            }
            return hasThree ? 3 : 1
        }
    }

    private static func starts(_ bytes: UnsafeBufferPointer<UInt8>, _ prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { bytes.prefix($0.count).elementsEqual($0) }
    }

    private static func ends(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ suffix: StaticString) -> Bool {
        suffix.withUTF8Buffer { bytes.suffix($0.count).elementsEqual($0) }
    }
}
