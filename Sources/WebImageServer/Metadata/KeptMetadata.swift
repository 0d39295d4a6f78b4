import WebImage

/// The metadata of an original that a result keeps.
enum KeptMetadata: String, Sendable {
    /// Everything but thumbnails, which show the original, with the orientation and the size of the result.
    case all
    /// The author and the copyright, in the fields that imgproxy keeps.
    case copyright

    /// Returns the blocks of a result.
    ///
    /// - Parameters:
    ///   - blocks: The blocks of the original.
    ///   - size: The size of the result in pixels.
    ///   - isUpright: True if the orientation in the metadata has been applied to the pixels.
    func blocks(of blocks: MetadataBlocks, size: PixelSize, isUpright: Bool) -> MetadataBlocks {
        var kept = MetadataBlocks()
        switch self {
        case .all:
            kept.exif = blocks.exif.flatMap { EXIFBlock($0)?.adapted(to: size, isUpright: isUpright) }
            kept.xmp = blocks.xmp.map { isUpright ? XMPPacket.upright($0) : $0 }
            kept.xmpExtensions = blocks.xmpExtensions
            kept.resources = blocks.resources.flatMap { PhotoshopResources.withoutThumbnails($0) }
        case .copyright:
            kept.exif = blocks.exif.flatMap { EXIFBlock($0)?.copyright }
            kept.xmp = blocks.xmp.flatMap { XMPPacket.copyright(of: $0) }
            kept.resources = blocks.resources.flatMap { PhotoshopResources.copyright(of: $0) }
        }
        return kept
    }
}

/// An EXIF block: a TIFF structure.
struct EXIFBlock {
    private enum Tag {
        static let artist = 315
        static let copyright = 33_432
        /// The offset of the directory with the other two.
        static let details = 34_665
        static let width = 40_962
        static let height = 40_963
    }

    private let bytes: [UInt8]
    private let first: Int

    /// Nil if it is not a TIFF structure: then nothing in it can be found and changed.
    init?(_ bytes: [UInt8]) {
        let first = bytes.withUnsafeBytes { bytes -> Int? in
            guard let structure = TIFFStructure(bytes), structure.version == 42,
                structure.directory(at: structure.firstDirectory) != nil
            else { return nil }
            return structure.firstDirectory
        }
        guard let first else { return nil }
        (self.bytes, self.first) = (bytes, first)
    }

    /// Returns the block for an image of another size, without the thumbnail, and with the orientation "up" if that has been applied.
    func adapted(to size: PixelSize, isUpright: Bool) -> [UInt8] {
        var changes: [(offset: Int, bytes: [UInt8])] = []
        bytes.withUnsafeBytes { bytes in
            guard let structure = TIFFStructure(bytes), let directory = structure.directory(at: first) else { return }
            func set(_ tag: Int, in directory: TIFFStructure.Directory, _ value: Int) {
                guard let entry = structure.entry(tag, in: directory), entry.count == 1 else { return }
                let count = [3: 2, 4: 4, 8: 2, 9: 4][entry.type] ?? 1
                changes.append((entry.offset, number(value, byteCount: count)))
            }
            if isUpright { set(TIFFStructure.Tag.orientation, in: directory, 1) }
            if let offset = structure.value(Tag.details, in: directory), let details = structure.directory(at: offset) {
                set(Tag.width, in: details, size.width)
                set(Tag.height, in: details, size.height)
            }
            guard directory.next != 0, let count = structure.uint16(first) else { return }
            changes.append((first + 2 + 12 * count, [0, 0, 0, 0]))
            guard let second = structure.directory(at: directory.next),
                let start = structure.value(TIFFStructure.Tag.jpegOffset, in: second), start < bytes.count,
                let length = structure.value(TIFFStructure.Tag.jpegByteCount, in: second)
            else { return }
            changes.append((start, [UInt8](repeating: 0, count: min(length, bytes.count - start))))
        }
        var result = bytes
        for change in changes where change.offset >= 8 && change.offset <= result.count - change.bytes.count {
            result.replaceSubrange(change.offset..<(change.offset + change.bytes.count), with: change.bytes)
        }
        return result
    }

    private func number(_ value: Int, byteCount: Int) -> [UInt8] {
        let little = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return bytes[0] == UInt8(ascii: "M") ? little.reversed() : little
    }

    /// A block with only the artist and the copyright; nil without both.
    var copyright: [UInt8]? {
        let texts = [Tag.artist, Tag.copyright].compactMap { tag in text(tag).map { (tag, $0) } }
        guard !texts.isEmpty else { return nil }
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var entries = little(texts.count, 2)
        var values: [UInt8] = []
        let start = 8 + 2 + 12 * texts.count + 4
        for (tag, text) in texts {
            entries += little(tag, 2) + little(2, 2) + little(text.count, 4)
            if text.count <= 4 {
                entries += text + [UInt8](repeating: 0, count: 4 - text.count)
            } else {
                entries += little(start + values.count, 4)
                values += text
                if text.count % 2 == 1 { values.append(0) }
            }
        }
        var block: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        block += entries
        // No directory follows.
        block += little(0, 4)
        return block + values
    }

    /// Returns a text with its end; nil for an empty one.
    private func text(_ tag: Int) -> [UInt8]? {
        bytes.withUnsafeBytes { bytes in
            guard let structure = TIFFStructure(bytes), let directory = structure.directory(at: first),
                let entry = structure.entry(tag, in: directory), entry.type == 2, entry.count > 1,
                entry.count <= 32_768, entry.offset <= bytes.count - entry.count
            else { return nil }
            let text = bytes[entry.offset..<(entry.offset + entry.count)]
            guard text.contains(where: { $0 != 0 && $0 != 32 }) else { return nil }
            return text.last == 0 ? Array(text) : Array(text) + [0]
        }
    }
}
