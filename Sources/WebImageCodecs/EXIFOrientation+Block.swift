extension EXIFOrientation {
    /// Returns the orientation in an EXIF block of PNG or WebP, or nil without an orientation tag. Some programs begin the block with
    /// `Exif\0\0` as in JPEG.
    package static func tag(block: UnsafeRawBufferPointer) -> ImageOrientation? {
        let hasPrefix = block.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0])
        return tag(tiff: hasPrefix ? UnsafeRawBufferPointer(rebasing: block.dropFirst(6)) : block)
    }
}
