/// Distinguishes raw files of cameras from TIFF, which most of them are built like.
package enum CameraRawSniffer {
    /// Photometric interpretations of sensor data: a colour filter array, and linear raw.
    package static let sensorColors: Set<Int> = [32_803, 34_892]
    /// Compressions that only raw files have: of Sony, Epson and Pentax, Samsung, Nikon, Kodak, and Pentax.
    private static let rawCompressions: Set<Int> = [32_767, 32_769, 32_770, 34_713, 65_000, 65_535]

    /// Returns whether a TIFF file contains data of a sensor: DNG, CR2, NEF, ARW, PEF, SRW and others.
    static func isRaw(tiff bytes: UnsafeRawBufferPointer) -> Bool {
        guard let tiff = TIFFStructure(bytes), tiff.version == 42 else { return false }
        if isCR2(bytes) { return true }
        return tiff.directories().contains { directory in
            if tiff.entry(TIFFStructure.Tag.dngVersion, in: directory) != nil { return true }
            // An image in colours of TIFF is none of a sensor, however it is compressed.
            if let colors = tiff.value(TIFFStructure.Tag.colors, in: directory) { return sensorColors.contains(colors) }
            return rawCompressions.contains(tiff.value(TIFFStructure.Tag.compression, in: directory) ?? 0)
        }
    }

    /// Returns whether the bytes are a variant of TIFF with another version number: ORF or RW2. Text may begin with the same letters,
    /// so the first directory must be there.
    static func isRawVariant(ofTIFF bytes: UnsafeRawBufferPointer) -> Bool {
        let starts: [[UInt8]] = [
            [0x49, 0x49, 0x52, 0x4F], [0x49, 0x49, 0x52, 0x53], [0x4D, 0x4D, 0x4F, 0x52], [0x49, 0x49, 0x55, 0x00],
        ]
        guard starts.contains(where: { bytes.starts(with: $0) }), let tiff = TIFFStructure(bytes) else { return false }
        return tiff.directory(at: tiff.firstDirectory) != nil
    }

    private static func isCR2(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 11 && bytes[8] == UInt8(ascii: "C") && bytes[9] == UInt8(ascii: "R") && bytes[10] == 2
    }
}
