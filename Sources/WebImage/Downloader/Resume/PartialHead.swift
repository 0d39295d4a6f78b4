import FoundationEssentials

/// What is known of a part: whose it is, of which version, and how much there is of it.
///
/// In a file it takes the first 4 KiB, so that one write replaces it, and the bytes follow:
///
///     magic: 8 bytes, version: u32, reserved: u32, count: u64, total: i64 (-1: unknown), hash: u64, hash of the URL: u64,
///     four texts (length: u16, UTF-8): digest of the request, entity tag, last modification, content type; zeros,
///     checksum: u64 at the end
///
/// Numbers are little-endian, hashes are XXH3-64. `hash` is of the first `count` bytes; what follows those was being written when
/// the writer died.
struct PartialHead: Sendable, Hashable {
    static let byteCount = 4096
    private static let checksumOffset = byteCount - 8
    private static let textsOffset = 48
    private static let textCount = 4
    private static let magic: UInt64 = 0x0A1A_0A0D_4450_4957  // "WIPD\r\n\u{1a}\n"
    /// Files of version 1 had the URL.
    private static let version: UInt32 = 2

    var key: PartialKey
    var validator: PartialValidator
    /// Bytes of the whole; nil when that is not known.
    var total: Int64?
    var lastModified: String?
    var contentType: String?
    /// Bytes that are there.
    var count = 0
    /// Of those.
    var hash: UInt64 = 0

    init(
        key: PartialKey,
        validator: PartialValidator,
        total: Int64? = nil,
        lastModified: String? = nil,
        contentType: String? = nil
    ) {
        self.key = key
        self.validator = validator
        self.total = total
        self.lastModified = lastModified
        self.contentType = contentType
    }

    /// The 4 KiB; nil when it does not fit.
    func encoded() -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(Self.byteCount)
        Self.append(Self.magic, to: &output)
        Self.append(Self.version, to: &output)
        Self.append(UInt32(0), to: &output)
        Self.append(UInt64(count), to: &output)
        Self.append(total ?? -1, to: &output)
        Self.append(hash, to: &output)
        Self.append(key.urlHash, to: &output)
        var tag: String?
        var date = lastModified
        switch validator {
        case .entityTag(let text): tag = text
        case .lastModified(let text): date = text
        }
        for text in [key.digest, tag ?? "", date ?? "", contentType ?? ""] {
            guard let length = UInt16(exactly: text.utf8.count) else { return nil }
            Self.append(length, to: &output)
            output += text.utf8
        }
        guard output.count <= Self.checksumOffset else { return nil }
        output += [UInt8](repeating: 0, count: Self.checksumOffset - output.count)
        Self.append(output.withUnsafeBytes { Hashing.xxh3($0) }, to: &output)
        return output
    }

    /// Reads and checks the 4 KiB; nil when they are damaged, or of another version.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset])
        guard Hashing.xxh3(checked) == number(at: Self.checksumOffset, as: UInt64.self),
            number(at: 0, as: UInt64.self) == Self.magic, number(at: 8, as: UInt32.self) == Self.version,
            let count = Int(exactly: number(at: 16, as: UInt64.self)),
            let texts = Self.texts(checked), texts.count == Self.textCount
        else { return nil }
        let total = number(at: 24, as: Int64.self)
        guard total >= -1, total == -1 || Int64(count) <= total else { return nil }
        let isTagged = !texts[1].isEmpty
        guard isTagged || !texts[2].isEmpty else { return nil }
        self.init(
            key: PartialKey(urlHash: number(at: 40, as: UInt64.self), digest: texts[0]),
            validator: isTagged ? .entityTag(texts[1]) : .lastModified(texts[2]),
            total: total < 0 ? nil : total,
            lastModified: texts[2].isEmpty ? nil : texts[2],
            contentType: texts[3].isEmpty ? nil : texts[3]
        )
        self.count = count
        hash = number(at: 32, as: UInt64.self)
    }

    private static func texts(_ bytes: UnsafeRawBufferPointer) -> [String]? {
        let reader = ByteReader(bytes)
        var offset = textsOffset
        var texts: [String] = []
        for _ in 0..<textCount {
            guard let length = reader.littleEndian16(offset), let content = reader.slice(offset + 2, length),
                let text = String(validating: content, as: UTF8.self)
            else { return nil }
            texts.append(text)
            offset += 2 + length
        }
        return texts
    }

    private static func append(_ number: some FixedWidthInteger, to output: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
    }
}
