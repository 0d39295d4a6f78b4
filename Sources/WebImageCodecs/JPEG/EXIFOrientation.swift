/// Finds the orientation tag in a TIFF structure, the content of an EXIF block. Every offset is checked, and only the first directory is
/// read.
package enum EXIFOrientation {
    /// Returns the orientation in `tiff`, bytes that begin with `II*\0` or `MM\0*`; `.up` when there is none.
    package static func read(tiff: UnsafeRawBufferPointer) -> ImageOrientation { tag(tiff: tiff) ?? .up }

    /// Returns the orientation tag; nil when there is none.
    package static func tag(tiff: UnsafeRawBufferPointer) -> ImageOrientation? {
        guard let structure = TIFFStructure(tiff), structure.version == 42,
            let directory = structure.directory(at: structure.firstDirectory),
            let entry = structure.entry(TIFFStructure.Tag.orientation, in: directory)
        else { return nil }
        // The type should be SHORT, but some writers use BYTE, LONG or a signed type.
        let isNumber = entry.count == 1 && [1, 3, 4, 6, 8, 9].contains(entry.type)
        return structure.values(entry, atMost: isNumber ? 1 : 0).first.map { ImageOrientation(exif: $0) } ?? .up
    }
}
