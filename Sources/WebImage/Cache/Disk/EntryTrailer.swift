import FoundationEssentials

/// What follows the picture in a cache file.
///
/// A cache file starts with the bytes of the picture, so that any program can open it; decoders ignore what comes after
/// the end of a picture. Then come records, then a footer of fixed size at the very end of the file:
///
///     picture │ records: (tag: u32, length: u32, bytes)… │ footer
///
///     footer  bodyLength: u64, recordsLength: u64, created: i64 (ns since 1970), bodyHash: u64,
///             version: u32, reserved: u32, trailerHash: u64, magic: 8 bytes
///
/// Numbers are little-endian, hashes are XXH3-64; `trailerHash` covers the records and the footer up to itself. The first
/// record is the key. Records of a tag that this version does not know are kept when the entry is written again.
struct EntryTrailer: Sendable {
    /// What a record holds.
    enum Tag {
        static let key: UInt32 = 1
        static let extendedData: UInt32 = 2
        /// Lines of the answer that the picture came with; see ``ResponseLines``.
        static let response: UInt32 = 3
        /// The bytes of a ``WebImage/ThumbHash``.
        static let thumbHash: UInt32 = 4
    }

    /// A record.
    struct Record: Sendable, Hashable {
        var tag: UInt32
        var bytes: Data
    }

    static let footerSize = 56
    static let version: UInt32 = 1
    static let magic: UInt64 = 0x0A1A_0A0D_4643_4957  // "WICF\r\n\u{1a}\n"

    var key: String
    /// When the picture was stored, in nanoseconds since 1970.
    var created: Int64
    /// Every record but the key.
    var records: [Record] = []

    var extendedData: Data? {
        get { record(Tag.extendedData) }
        set { setRecord(Tag.extendedData, newValue) }
    }

    /// What the server gave to ask for a newer picture. Lines of the record that are no validators stay when it is set.
    var validators: CacheValidators? {
        get { record(Tag.response).flatMap { ResponseLines($0).validators } }
        set {
            var lines = ResponseLines(record(Tag.response) ?? Data())
            lines.validators = newValue
            setRecord(Tag.response, lines.isEmpty ? nil : lines.bytes)
        }
    }

    var thumbHash: ThumbHash? {
        get { record(Tag.thumbHash).flatMap { ThumbHash(bytes: $0) } }
        set { setRecord(Tag.thumbHash, newValue.map { Data($0.bytes) }) }
    }

    /// Whether the key is `key`, byte for byte.
    func hasKey(_ key: String) -> Bool { self.key.utf8.elementsEqual(key.utf8) }

    private func record(_ tag: UInt32) -> Data? { records.first { $0.tag == tag }?.bytes }

    private mutating func setRecord(_ tag: UInt32, _ bytes: Data?) {
        records.removeAll { $0.tag == tag }
        if let bytes { records.append(Record(tag: tag, bytes: bytes)) }
    }

    /// The bytes to put after a picture; nil when a record is too long for its length field.
    func encoded(bodyLength: Int, bodyHash: UInt64) -> [UInt8]? {
        var key = key
        var output: [UInt8] = []
        output.reserveCapacity(8 + key.utf8.count + records.reduce(0) { $0 + 8 + $1.bytes.count } + Self.footerSize)
        let fits =
            key.withUTF8 { Self.append(Tag.key, UnsafeRawBufferPointer($0), to: &output) }
            && records.allSatisfy { record in
                record.bytes.withUnsafeBytes { Self.append(record.tag, $0, to: &output) }
            }
        guard fits else { return nil }
        let recordsLength = output.count
        Self.append(UInt64(bodyLength), to: &output)
        Self.append(UInt64(recordsLength), to: &output)
        Self.append(created, to: &output)
        Self.append(bodyHash, to: &output)
        Self.append(Self.version, to: &output)
        Self.append(UInt32(0), to: &output)
        Self.append(output.withUnsafeBytes { Hashing.xxh3($0) }, to: &output)
        Self.append(Self.magic, to: &output)
        return output
    }

    private static func append(_ tag: UInt32, _ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) -> Bool {
        guard let length = UInt32(exactly: bytes.count) else { return false }
        append(tag, to: &output)
        append(length, to: &output)
        output.append(contentsOf: bytes)
        return true
    }

    private static func append(_ number: some FixedWidthInteger, to output: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
    }
}

/// The last bytes of a cache file, read.
struct EntryFooter: Sendable {
    /// Why a file is no entry.
    enum Failure: Error, Hashable {
        /// There is no footer: not written by this library, or torn.
        case absent
        /// A later version wrote it.
        case unknownVersion
        /// Lengths do not match the file, or the hash does not match.
        case damaged
    }

    let bodyLength: Int
    let recordsLength: Int
    let created: Int64
    let bodyHash: UInt64

    /// The hash of the bytes as everybody else has it, who takes 0 for unknown.
    var contentHash: UInt64 { max(bodyHash, 1) }

    /// Reads and checks the footer and the hash of the trailer.
    ///
    /// - Parameter tail: the end of the file, at least the whole trailer; `nil` is returned when it holds less.
    /// - Parameter fileSize: the size of the whole file.
    static func read(from tail: UnsafeRawBufferPointer, fileSize: Int) throws(Failure) -> EntryFooter? {
        guard tail.count >= EntryTrailer.footerSize else { throw .absent }
        let start = tail.count - EntryTrailer.footerSize
        func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number {
            Number(littleEndian: tail.loadUnaligned(fromByteOffset: start + offset, as: type))
        }
        guard number(at: 48, as: UInt64.self) == EntryTrailer.magic else { throw .absent }
        guard let body = Int(exactly: number(at: 0, as: UInt64.self)),
            let records = Int(exactly: number(at: 8, as: UInt64.self))
        else { throw .damaged }
        let (sum, overflow) = body.addingReportingOverflow(records)
        guard !overflow, sum == fileSize - EntryTrailer.footerSize else { throw .damaged }
        guard records <= start else { return nil }
        let hashed = UnsafeRawBufferPointer(rebasing: tail[(start - records)..<(start + 40)])
        guard Hashing.xxh3(hashed) == number(at: 40, as: UInt64.self) else { throw .damaged }
        guard number(at: 32, as: UInt32.self) == EntryTrailer.version else { throw .unknownVersion }
        return EntryFooter(
            bodyLength: body,
            recordsLength: records,
            created: number(at: 16, as: Int64.self),
            bodyHash: number(at: 24, as: UInt64.self)
        )
    }
}
