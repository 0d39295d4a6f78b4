/// Reads the directories of a TIFF structure: of a TIFF file, of raw files that are built like one, or of an EXIF block. Every offset
/// is checked, so that it never traps, and the numbers of directories and entries are limited.
package struct TIFFStructure {
    package let bytes: UnsafeRawBufferPointer
    private let isBigEndian: Bool

    /// The maximum number of entries of a directory that are read.
    private static let mostEntries = 512

    /// Creates a reader; nil if the bytes do not begin with a byte order. The number that follows it is ``version``.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8, bytes[0] == bytes[1] else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "I"): isBigEndian = false
        case UInt8(ascii: "M"): isBigEndian = true
        default: return nil
        }
        self.bytes = bytes
    }

    /// The number after the byte order: 42 for TIFF.
    package var version: Int { uint16(2) ?? 0 }

    /// The offset of the first directory.
    package var firstDirectory: Int { uint32(4) ?? 0 }

    package struct Entry {
        /// The type of the values: 3 for SHORT, 4 for LONG and so on.
        package let type: Int
        package let count: Int
        /// The offset of the first value.
        package let offset: Int
    }

    package struct Directory: Sendable {
        fileprivate let offset: Int
        fileprivate let count: Int
        /// The offset of the directory after this one; 0 without one.
        package let next: Int
    }

    /// Returns the directory at an offset; nil without one. Of more than 512 entries only the first are read, and no directory follows.
    package func directory(at offset: Int) -> Directory? {
        guard offset >= 8, let count = uint16(offset), count > 0, entry(at: offset + 2) != nil else { return nil }
        let next = count <= Self.mostEntries ? uint32(offset + 2 + count * 12) : nil
        return Directory(offset: offset, count: min(count, Self.mostEntries), next: next ?? 0)
    }

    /// Returns the first entry with a tag.
    package func entry(_ tag: Int, in directory: Directory) -> Entry? {
        for index in 0..<directory.count {
            let offset = directory.offset + 2 + index * 12
            guard let own = uint16(offset) else { return nil }
            if own == tag { return entry(at: offset) }
        }
        return nil
    }

    private func entry(at offset: Int) -> Entry? {
        guard let type = uint16(offset + 2), let count = uint32(offset + 4), let value = uint32(offset + 8) else {
            return nil
        }
        let size =
            switch type {
            case 1, 2, 6, 7: 1
            case 3, 8: 2
            case 4, 9, 13: 4
            default: 8
            }
        return Entry(type: type, count: count, offset: count * size > 4 ? value : offset + 8)
    }

    /// Returns the first value of an entry, if it is a whole number.
    package func value(_ tag: Int, in directory: Directory) -> Int? { values(tag, in: directory).first }

    /// Returns the values of the entry with a tag, up to a count.
    package func values(_ tag: Int, in directory: Directory, atMost most: Int = 1) -> [Int] {
        entry(tag, in: directory).map { values($0, atMost: most) } ?? []
    }

    /// Returns the values of an entry of bytes or of whole numbers, up to a count; none for other types.
    package func values(_ entry: Entry, atMost most: Int = 1) -> [Int] {
        var values: [Int] = []
        for index in 0..<min(entry.count, most) {
            let value: Int? =
                switch entry.type {
                case 1, 6, 7: entry.offset + index < bytes.count ? Int(bytes[entry.offset + index]) : nil
                case 3, 8: uint16(entry.offset + 2 * index)
                case 4, 9, 13: uint32(entry.offset + 4 * index)
                default: nil
                }
            guard let value else { break }
            values.append(value)
        }
        return values
    }

    package func uint16(_ offset: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - 2 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        return Int(isBigEndian ? UInt16(bigEndian: value) : UInt16(littleEndian: value))
    }

    package func uint32(_ offset: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return Int(isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value))
    }

    /// Returns the first directories and their subdirectories (tag 330), with at most `most` in all. A directory is read once, so
    /// that a loop ends.
    package func directories(atMost most: Int = 16) -> [Directory] {
        var directories: [Directory] = []
        var seen: Set<Int> = []
        var offsets = [firstDirectory]
        while let offset = offsets.popLast(), directories.count < most {
            guard seen.insert(offset).inserted, let directory = directory(at: offset) else { continue }
            directories.append(directory)
            if directory.next != 0 { offsets.append(directory.next) }
            offsets += values(Tag.subdirectories, in: directory, atMost: most).reversed()
        }
        return directories
    }

    package enum Tag {
        package static let compression = 259
        package static let colors = 262
        package static let stripOffsets = 273
        package static let orientation = 274
        package static let stripByteCounts = 279
        package static let subdirectories = 330
        package static let jpegOffset = 513
        package static let jpegByteCount = 514
        package static let dngVersion = 50_706
    }
}
