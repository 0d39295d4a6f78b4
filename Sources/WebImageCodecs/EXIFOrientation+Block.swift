extension EXIFOrientation {
    /// The orientation in an EXIF block of PNG or WebP, which some programs begin with `Exif\0\0` as in JPEG;
    /// nil when there is no such tag.
    package static func tag(block: UnsafeRawBufferPointer) -> ImageOrientation? {
        let hasPrefix = block.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0])
        return tag(tiff: hasPrefix ? UnsafeRawBufferPointer(rebasing: block.dropFirst(6)) : block)
    }
}
