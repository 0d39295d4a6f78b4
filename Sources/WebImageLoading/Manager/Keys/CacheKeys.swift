/// Derives the cache keys of processed images from the key of the original.
///
/// The keys are SDWebImage's. They name files on disk, so they are part of the format of the cache directory.
public enum CacheKeys {
    /// A part of every thumbnail key.
    static let thumbnailMarker = "-Thumbnail("

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
        return key[..<dot] + "-" + suffix + key[dot...]
    }

    /// Returns the key of a thumbnail: transformed by `Thumbnail({W,H},P)`. The sides have six decimals. P is 1 or 0 for keeping
    /// the aspect ratio or not, and 2 for covering the size while keeping it.
    public static func thumbnail(
        _ key: String,
        size: ImageSize,
        preserveAspectRatio: Bool,
        covers: Bool = false
    ) -> String {
        let sides = "{" + FixedDecimal.string(size.width) + "," + FixedDecimal.string(size.height) + "}"
        let shape = preserveAspectRatio ? covers ? 2 : 1 : 0
        return transformed(key, by: "Thumbnail(\(sides),\(shape))")
    }

    /// The part of the key of every page but the first.
    static let pageMarker = "-Page("

    /// Returns the key of a page, counted from 0: for the first, that of the file; for another, that of the file transformed by
    /// `Page(N)`.
    public static func page(_ key: String, _ page: Int) -> String {
        page == 0 ? key : transformed(key, by: "Page(\(page))")
    }

    /// The part of the key of every developed raw image.
    static let developmentMarker = "-Development("

    /// Returns the key of the image that is decoded of a camera's raw file: for the embedded preview, that of the file; for the
    /// developed image, that of the file transformed by `Development(full)`.
    public static func developed(_ key: String, _ development: ImageDecodeOptions.RawDevelopment) -> String {
        development == .preview ? key : transformed(key, by: "Development(full)")
    }

    /// Returns the key of the selected page, or of the developed image.
    static func selection(_ key: String, _ page: Int, _ development: ImageDecodeOptions.RawDevelopment) -> String {
        developed(Self.page(key, page), development)
    }

    static func isDevelopment(_ key: String) -> Bool { key.contains(developmentMarker) }

    /// Returns the key of the still of a video: for the first frame that is not black, that of the file; for a time in seconds, that of the file
    /// transformed by `VideoTime(S)`, with six decimals. Thumbnails and transformed images are derived from it.
    public static func videoTime(_ key: String, _ seconds: Double?) -> String {
        seconds.map { transformed(key, by: "VideoTime(\(FixedDecimal.string($0)))") } ?? key
    }

    static func isPage(_ key: String) -> Bool { key.contains(pageMarker) }

    static func isThumbnail(_ key: String) -> Bool {
        key.utf8.count >= thumbnailMarker.utf8.count && key.contains(thumbnailMarker)
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
        byte.isASCIILetter || byte.isASCIIDigit || "-._~!$&'()*+,;=:@/".utf8.contains(byte)
    }
}
