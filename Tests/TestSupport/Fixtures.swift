public import FoundationEssentials

/// Files of other programs, below `Tests/Fixtures` or, for the optional formats, `Tests/WebImageFormatsTests/Fixtures`.
public enum Fixtures {
    /// Directories of formats whose tests are in a separate target.
    private static let ofOtherFormats: Set<Substring> = [
        "TIFF", "SVG", "AVIF", "HEIF", "HDR", "JPEGXL", "CodedSizes", "PDF", "RAW", "Video",
    ]

    /// The absolute path of a fixture, for example `JPEG/baseline.jpg`. Found next to the sources, not in a bundle.
    public static func path(_ name: String) -> String {
        var directory = URL(fileURLWithPath: #filePath)
        directory.deleteLastPathComponent()
        directory.deleteLastPathComponent()
        let isOfOtherFormat = ofOtherFormats.contains(name.prefix { $0 != "/" })
        return directory.path + (isOfOtherFormat ? "/WebImageFormatsTests/Fixtures/" : "/Fixtures/") + name
    }

    /// The bytes of a fixture.
    ///
    /// - Throws: An error if the file does not exist.
    public static func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

    /// The pixels of a fixture in a portable anymap.
    public static func pixels(_ name: String) throws -> PortableAnymap { try PortableAnymap(data(name)) }
}
