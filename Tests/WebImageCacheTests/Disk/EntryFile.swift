import CacheTestSupport

@testable import WebImageCache

/// A cache file, parsed.
struct EntryFile {
    let bytes: [UInt8]
    let footer: EntryFooter

    /// Nil if the file is not an entry.
    init?(_ bytes: [UInt8]) {
        let footer = bytes.withUnsafeBytes { try? EntryFooter.read(from: $0, fileSize: bytes.count) }
        guard let footer else { return nil }
        self.bytes = bytes
        self.footer = footer
    }

    init?(path: String) { self.init(readBytes(path)) }

    var body: [UInt8] { Array(bytes[..<footer.bodyLength]) }

    /// The range of a slot.
    func slot(_ index: Int) -> Range<Int> {
        let start = footer.bodyLength + index * footer.slotSize
        return start..<(start + footer.slotSize)
    }

    /// The valid slot.
    var content: ResponseSlots.Content? {
        bytes[footer.slotsRange].withUnsafeBytes { footer.slots?.content(of: $0).valid }
    }
}
