import FoundationEssentials
import Glibc

/// The trailer that follows the image data in a cache file.
///
/// A cache file starts with the bytes of the image, so that any program can open it; decoders ignore bytes after the end of an
/// image. Then follow slots, if there are any, then records, then a footer of fixed size at the very end:
///
///     image │ slot, slot │ records: (tag: u32, length: u32, bytes)… │ footer
///
///     footer  contentLength: u64, recordsLength: u64, created: i64 (ns since 1970), bodyHash: u64,
///             version: u32, slotSize: u32, trailerHash: u64, magic: 8 bytes
///
/// Numbers are little-endian, hashes are XXH3-64; `trailerHash` covers the records and the footer up to itself. The first record is
/// the key. Records with an unknown tag are kept when the entry is rewritten.
///
/// Version 1 has no slots, and its content is the image. Version 2 is for entries whose response can change while the image stays, and
/// for those that record images of other sizes: its content is the image and the ``ResponseSlots``, which contain the record that
/// version 1 stores as ``Tag/response``, outside the hash. Readers of version 1 treat it as a later version, and leave it unchanged.
struct EntryTrailer: Sendable {
    enum Tag {
        static let key: UInt32 = 1
        static let extendedData: UInt32 = 2
        /// The response lines of the image; see ``ResponseLines``.
        static let response: UInt32 = 3
        /// The bytes of a ``WebImage/ThumbHash``.
        static let thumbHash: UInt32 = 4
    }

    struct Record: Sendable, Hashable {
        var tag: UInt32
        var bytes: Data
    }

    static let footerSize = 56
    static let version: UInt32 = 1
    static let versionWithSlots: UInt32 = 2
    static let magic: UInt64 = 0x0A1A_0A0D_4643_4957  // "WICF\r\n\u{1a}\n"

    var key: String
    /// The time at which the image was stored, in nanoseconds since 1970.
    var created: Int64
    /// All records except the key; includes the response even if it is stored in a slot.
    var records: [Record] = []
    /// The minimum size of each slot; 0 if there must be slots only for a response that can change.
    var leastSlotSize = 0

    /// Creates a trailer without records.
    init(key: String, created: Int64) { (self.key, self.created) = (key, created) }

    /// Creates the trailer of an entry.
    init(key: String, created: Int64, _ entry: CachedImageData) {
        self.init(key: key, created: created)
        if let extendedData = entry.extendedData { self.extendedData = extendedData }
        if let validators = entry.validators { self.validators = validators }
        if let thumbHash = entry.thumbHash { self.thumbHash = thumbHash }
    }

    /// Parses the records of a file, which have been verified against their hash; nil if they do not fill the bytes exactly, or if
    /// there is no key.
    ///
    /// - Parameter expectedKey: a key that the file probably has, which then needs no new string.
    init?(records bytes: UnsafeRawBufferPointer, created: Int64, expectedKey: String? = nil) {
        var key: String?
        var start = 0
        while start < bytes.count {
            guard bytes.count - start >= 8 else { return nil }
            let tag = bytes.littleEndian(at: start, as: UInt32.self)
            let length = Int(bytes.littleEndian(at: start + 4, as: UInt32.self))
            start += 8
            guard bytes.count - start >= length else { return nil }
            let record = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
            if tag == Tag.key {
                let isExpected = expectedKey?.hasUTF8(record) == true
                key = isExpected ? expectedKey : String(validating: record, as: UTF8.self)
            } else {
                records.append(Record(tag: tag, bytes: Data(record)))
            }
            start += length
        }
        guard let key else { return nil }
        (self.key, self.created) = (key, created)
    }

    var extendedData: Data? {
        get { record(Tag.extendedData) }
        set { setRecord(Tag.extendedData, newValue) }
    }

    /// The response lines of the image.
    var response: Data? {
        get { record(Tag.response) }
        set { setRecord(Tag.response, newValue) }
    }

    /// The validators for revalidation. When they are set, other lines of the record stay.
    var validators: CacheValidators? {
        get { response.flatMap { ResponseLines($0).validators } }
        set {
            var lines = ResponseLines(response ?? Data())
            lines.validators = newValue
            response = lines.isEmpty ? nil : lines.bytes
        }
    }

    /// The images of other sizes, the oldest first; nil if the entry has no room for them. When they are set, other lines of the response stay.
    var variants: [StoredVariant]? {
        get {
            let variants = response.map { ResponseLines($0).variants } ?? []
            return leastSlotSize == 0 && variants.isEmpty ? nil : variants
        }
        set {
            var lines = ResponseLines(response ?? Data())
            lines.variants = newValue ?? []
            response = lines.isEmpty ? nil : lines.bytes
        }
    }

    /// Returns false if there is none.
    mutating func removeOldestVariant() -> Bool {
        guard let variants, !variants.isEmpty else { return false }
        self.variants = Array(variants.dropFirst())
        return true
    }

    /// Leaves room for the maximum number of variants, unless the response is too long for slots.
    mutating func reserveVariants() {
        leastSlotSize = ResponseSlots.size(for: response ?? Data(), room: ResponseLines.variantsRoom) ?? 0
    }

    var thumbHash: ThumbHash? {
        get { record(Tag.thumbHash).flatMap { ThumbHash(bytes: $0) } }
        set { setRecord(Tag.thumbHash, newValue.map { Data($0.bytes) }) }
    }

    /// Returns whether the key is `key`, byte for byte.
    func hasKey(_ key: String) -> Bool { key.utf8Span.span.withUnsafeBytes { self.key.hasUTF8($0) } }

    private func record(_ tag: UInt32) -> Data? { records.first { $0.tag == tag }?.bytes }

    private mutating func setRecord(_ tag: UInt32, _ bytes: Data?) {
        records.removeAll { $0.tag == tag }
        if let bytes { records.append(Record(tag: tag, bytes: bytes)) }
    }

    /// The size of each slot of the entry; 0 for none.
    private var slotSize: Int {
        let response = response ?? Data()
        guard leastSlotSize > 0 || ResponseLines(response).mayChange else { return 0 }
        return ResponseSlots.size(for: response).map { max($0, leastSlotSize) } ?? 0
    }

    /// Returns the bytes to append to an image; nil if a record is too long for its length field.
    func encoded(bodyLength: Int, bodyHash: UInt64) -> [UInt8]? {
        let slotSize = slotSize
        let slotsLength = 2 * slotSize
        var output = [UInt8](repeating: 0, count: slotsLength)
        guard appendRecords(to: &output, withResponse: slotSize == 0) else { return nil }
        output.append(littleEndian: UInt64(bodyLength + slotsLength))
        output.append(littleEndian: UInt64(output.count - 8 - slotsLength))
        output.append(littleEndian: created)
        output.append(littleEndian: bodyHash)
        output.append(littleEndian: slotSize == 0 ? Self.version : Self.versionWithSlots)
        output.append(littleEndian: UInt32(slotSize))
        let hash = output.withUnsafeBytes { Hashing.xxh3(UnsafeRawBufferPointer(rebasing: $0[slotsLength...])) }
        output.append(littleEndian: hash)
        output.append(littleEndian: Self.magic)
        if slotSize > 0 {
            let slots = ResponseSlots(size: slotSize, seed: hash)
            guard let slot = slots.encoded(response ?? Data(), sequence: 1) else { return nil }
            output.replaceSubrange(..<slot.count, with: slot)
        }
        return output
    }

    private func appendRecords(to output: inout [UInt8], withResponse: Bool) -> Bool {
        var key = key
        let length = records.reduce(8 + key.utf8.count) { $0 + 8 + $1.bytes.count }
        output.reserveCapacity(output.count + length + Self.footerSize)
        return key.withUTF8 { Self.append(Tag.key, UnsafeRawBufferPointer($0), to: &output) }
            && records.allSatisfy { record in
                guard withResponse || record.tag != Tag.response else { return true }
                return record.bytes.withUnsafeBytes { Self.append(record.tag, $0, to: &output) }
            }
    }

    private static func append(_ tag: UInt32, _ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) -> Bool {
        guard let length = UInt32(exactly: bytes.count) else { return false }
        output.append(littleEndian: tag)
        output.append(littleEndian: length)
        output.append(contentsOf: bytes)
        return true
    }
}

extension String {
    /// Returns whether the UTF-8 of the string is `bytes`.
    fileprivate func hasUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        utf8Span.span.withUnsafeBytes { own in
            guard own.count == bytes.count else { return false }
            guard let first = own.baseAddress, let second = bytes.baseAddress, !own.isEmpty else { return true }
            return memcmp(first, second, own.count) == 0
        }
    }
}
