/// Derives the cache keys of processed images from the key of the original.
///
/// The keys are SDWebImage's. They name files on disk, so they are part of the format of the cache directory.
public enum CacheKeys {
    /// Returns the key of a transformed image. The transformer's key is inserted before the path extension (`https://h/a.jpg?x=1`
    /// and `Flip` give `https://h/a-Flip.jpg?x=1`), or appended to a key without one.
    ///
    /// In a URL (with a scheme other than `file`), characters of the transformer's key that a path cannot contain, such as
    /// braces, are percent-encoded; parentheses and commas are not. All other characters stay as they are.
    public static func transformed(_ key: String, by transformerKey: String) -> String {
        let parts = KeyParts(key)
        let ext = parts.encodedExtension
        guard !ext.isEmpty else { return key + "-" + transformerKey }
        let isRemote = parts.scheme != nil && !parts.isFileURL
        let suffix = isRemote ? percentEncodedForPath(transformerKey) : transformerKey
        // `ext` is a slice of `key`, so its indices are the key's. The byte before it is the dot.
        let dot = key.utf8.index(before: ext.startIndex)
        var result = ""
        result.reserveCapacity(key.utf8.count + 1 + suffix.utf8.count)
        result += key[..<dot]
        result += "-"
        result += suffix
        result += key[dot...]
        return result
    }

    /// Returns the key of a thumbnail: transformed by `Thumbnail({W,H},P)`. The sides have six decimals. P is 1 or 0 for keeping
    /// the aspect ratio or not, and 2 for covering the size while keeping it.
    public static func thumbnail(
        _ key: String,
        size: ImageSize,
        preserveAspectRatio: Bool,
        covers: Bool = false
    ) -> String {
        transformed(key, by: thumbnailKey(size, preserveAspectRatio, covers))
    }

    private static func thumbnailKey(_ size: ImageSize, _ preserveAspectRatio: Bool, _ covers: Bool) -> String {
        let shape = preserveAspectRatio ? covers ? "2" : "1" : "0"
        return "Thumbnail({\(FixedDecimal.string(size.width)),\(FixedDecimal.string(size.height))},\(shape))"
    }

    /// Returns the key of a page, counted from 0: for the first, that of the file; for another, that of the file transformed by
    /// `Page(N)`.
    public static func page(_ key: String, _ page: Int) -> String {
        page == 0 ? key : transformed(key, by: "Page(\(page))")
    }

    /// Returns the key of the image that is decoded of a camera's raw file: for the embedded preview, that of the file; for the
    /// developed image, that of the file transformed by `Development(full)`.
    public static func developed(_ key: String, _ development: ImageDecodeOptions.RawDevelopment) -> String {
        development == .preview ? key : transformed(key, by: "Development(full)")
    }

    /// Returns the key of the selected page, or of the developed image.
    static func selection(_ key: String, _ page: Int, _ development: ImageDecodeOptions.RawDevelopment) -> String {
        developed(Self.page(key, page), development)
    }

    /// Returns the key of the still of a video: for the first frame that is not black, that of the file; for a time in seconds, that of the file
    /// transformed by `VideoTime(S)`, with six decimals. Thumbnails and transformed images are derived from it.
    public static func videoTime(_ key: String, _ seconds: Double?) -> String {
        seconds.map { transformed(key, by: "VideoTime(\(FixedDecimal.string($0)))") } ?? key
    }

    // MARK: Suffixes of a key
    //
    // A URL's own name may look like a key with a suffix. What the entry contains decides then.

    /// Returns whether the key may be that of the page.
    static func mayBe(page: Int, _ key: String) -> Bool { page != 0 && has("Page(\(page))", key) }

    /// Returns whether the key may be that of the developed image.
    static func mayBe(_ development: ImageDecodeOptions.RawDevelopment, _ key: String) -> Bool {
        development == .full && has("Development(full)", key)
    }

    /// Returns whether the key may be that of a thumbnail of that size and shape.
    static func mayBeThumbnail(_ key: String, size: ImageSize, preserveAspectRatio: Bool, covers: Bool) -> Bool {
        has(thumbnailKey(size, preserveAspectRatio, covers), key)
    }

    /// Returns whether a key has exactly this suffix, at its end or before other suffixes, which begin with "-".
    private static func has(_ transformerKey: String, _ key: String) -> Bool {
        [transformerKey, percentEncodedForPath(transformerKey)].contains { text in
            let suffix = "-" + text
            return key.ranges(of: suffix).contains { range in
                let (former, rest) = (key[..<range.lowerBound], key[range.upperBound...])
                guard !former.isEmpty else { return false }
                return rest.hasPrefix("-") || transformed(String(former + rest), by: transformerKey) == key
            }
        }
    }

    private static func percentEncodedForPath(_ text: String) -> String {
        let digits: StaticString = "0123456789ABCDEF"
        return String(unsafeUninitializedCapacity: text.utf8.count * 3) { output in
            var count = 0
            func append(_ byte: UInt8) {
                output.initializeElement(at: count, to: byte)
                count += 1
            }
            for byte in text.utf8 {
                guard !isAllowedInPath(byte) else {
                    append(byte)
                    continue
                }
                append(UInt8(ascii: "%"))
                append(digits.utf8Start[Int(byte >> 4)])
                append(digits.utf8Start[Int(byte & 15)])
            }
            return count
        }
    }

    /// RFC 3986: unreserved, sub-delims, ":", "@" and "/".
    private static func isAllowedInPath(_ byte: UInt8) -> Bool {
        if byte.isASCIILetter || byte.isASCIIDigit { return true }
        switch Unicode.Scalar(byte) {
        case "-", ".", "_", "~", "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", ":", "@", "/": return true
        default: return false
        }
    }
}
