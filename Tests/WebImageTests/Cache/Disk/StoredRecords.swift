import FoundationEssentials
import WebImage

@testable import WebImageCache

/// Validators with records, each of a number that is everywhere in it, so that a mixture of two is found.
enum StoredRecords {
    /// - Parameter padding: bytes of a field that nobody reads.
    static func record(_ number: Int, padding: Int = 0) -> HTTPCacheRecord {
        HTTPCacheRecord(
            statusCode: 200,
            headers: [
                "cache-control": "max-age=\(number)", "etag": "\"\(number)\"",
                "x-padding": String(repeating: "\(number % 10)", count: padding),
            ],
            requestTime: 1_800_000_000.25 + Double(number),
            responseTime: 1_800_000_000.5 + Double(number),
            selectingHeaders: ["accept": "image/\(number)"],
            redirectLifetime: Double(number)
        )
    }

    static func validators(_ number: Int, padding: Int = 0) -> CacheValidators? {
        CacheValidators(record: record(number, padding: padding))
    }

    /// The number of validators that are those of a number, whole.
    static func number(of validators: CacheValidators?) -> Int? {
        guard let validators, let etag = validators.etag, let number = Int(etag.dropFirst().dropLast()) else {
            return nil
        }
        let padding = validators.record?.headers["x-padding"]?.utf8.count ?? 0
        return validators == self.validators(number, padding: padding) ? number : nil
    }

    /// An entry with them.
    static func entry(_ bytes: [UInt8], _ number: Int, padding: Int = 0, extendedData: Data? = nil) -> CachedImageData {
        CachedImageData(data: Data(bytes), extendedData: extendedData, validators: validators(number, padding: padding))
    }
}

/// A cache file taken apart.
struct EntryFile {
    let bytes: [UInt8]
    let footer: EntryFooter

    /// Nil when it is none.
    init?(_ bytes: [UInt8]) {
        let footer = bytes.withUnsafeBytes { try? EntryFooter.read(from: $0, fileSize: bytes.count) }
        guard let footer else { return nil }
        self.bytes = bytes
        self.footer = footer
    }

    init?(path: String) { self.init(readBytes(path)) }

    var body: [UInt8] { Array(bytes[..<footer.bodyLength]) }

    /// Where one of the slots is.
    func slot(_ index: Int) -> Range<Int> {
        let start = footer.bodyLength + index * footer.slotSize
        return start..<(start + footer.slotSize)
    }

    /// The slot that counts.
    var content: ResponseSlots.Content? {
        bytes[footer.slotsRange].withUnsafeBytes { footer.slots?.content(of: $0) }
    }
}
