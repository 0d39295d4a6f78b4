import WebImageCodecs

/// Finds the parts of a raw file that are documented to contain JPEG files: by directories, by the header of RAF, by the boxes of CR3.
enum RAWPreviewFinder {
    /// Returns parts of the file. Their contents are not checked.
    static func parts(of bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        if let tiff = TIFFStructure(bytes) { return tiff.directories().flatMap { parts(of: $0, in: tiff) } }
        let reader = ByteReader(bytes)
        return bytes.first == UInt8(ascii: "F") ? partsOfRAF(reader) : partsOfCR3(reader)
    }

    // MARK: Directories

    /// The entry of RW2 whose value is a JPEG file.
    private static let jpegFromRaw = 46
    /// The compressions of JPEG: the old-style one, and the one of DNG.
    private static let jpegCompressions: Set<Int> = [6, 7]

    private static func parts(
        of directory: TIFFStructure.Directory,
        in tiff: TIFFStructure
    ) -> [UnsafeRawBufferPointer] {
        let reader = ByteReader(tiff.bytes)
        var parts: [UnsafeRawBufferPointer?] = []
        if let entry = tiff.entry(jpegFromRaw, in: directory), entry.type == 7 {
            parts.append(reader.slice(entry.offset, entry.count))
        }
        if let offset = tiff.value(TIFFStructure.Tag.jpegOffset, in: directory),
            let count = tiff.value(TIFFStructure.Tag.jpegByteCount, in: directory)
        {
            parts.append(reader.slice(offset, count))
        }
        // A strip of sensor data may be a JPEG, too.
        let colors = tiff.value(TIFFStructure.Tag.colors, in: directory) ?? 0
        if jpegCompressions.contains(tiff.value(TIFFStructure.Tag.compression, in: directory) ?? 0),
            !CameraRawSniffer.sensorColors.contains(colors)
        {
            let offsets = tiff.values(TIFFStructure.Tag.stripOffsets, in: directory, atMost: 2)
            let counts = tiff.values(TIFFStructure.Tag.stripByteCounts, in: directory, atMost: 2)
            if offsets.count == 1, counts.count == 1 { parts.append(reader.slice(offsets[0], counts[0])) }
        }
        return parts.compactMap { $0 }
    }

    // MARK: RAF

    /// The header has the offset and the length of a JPEG file.
    private static func partsOfRAF(_ reader: ByteReader) -> [UnsafeRawBufferPointer] {
        guard let offset = reader.bigEndian32(84), let count = reader.bigEndian32(88) else { return [] }
        return reader.slice(Int(offset), Int(count)).map { [$0] } ?? []
    }

    // MARK: CR3

    /// Canon's boxes: `THMB` within a `uuid` box in `moov`, and `PRVW` within another one beside it.
    private static func partsOfCR3(_ reader: ByteReader) -> [UnsafeRawBufferPointer] {
        let boxes = ISOBox.boxes(in: reader, 0..<reader.count)
        let ofMovie = boxes.first { $0.type == fourCC("moov") }?.children(in: reader) ?? []
        let previews = ofMovie.filter { $0.type == fourCC("uuid") }
            .compactMap { $0.children(in: reader, skipping: 16).first { $0.type == fourCC("THMB") } }
            .compactMap { part(of: $0, lengthAt: 8, startsAt: 16, reader) }
        let others = boxes.filter { $0.type == fourCC("uuid") }
            .compactMap { $0.children(in: reader, skipping: 24).first { $0.type == fourCC("PRVW") } }
            .compactMap { part(of: $0, lengthAt: 12, startsAt: 16, reader) }
        return previews + others
    }

    private static func part(
        of box: ISOBox,
        lengthAt length: Int,
        startsAt start: Int,
        _ reader: ByteReader
    ) -> UnsafeRawBufferPointer? {
        let content = box.content
        guard let count = reader.bigEndian32(content.lowerBound + length), content.count >= start else { return nil }
        return reader.slice(content.lowerBound + start, min(Int(count), content.count - start))
    }
}
