import FoundationEssentials

/// The response of an image as stored: lines `name: value` in UTF-8, each terminated by a line feed.
///
/// This version knows `etag`, `last-modified`, `x-received-hash` (sixteen hexadecimal digits), `x-size`, a ``StoredVariant`` (one line
/// for each, see ``StoredVariant/line``), and `x-record`, which ends these lines: after `x-record: 1` follow the lines of an
/// ``HTTPCacheRecord``, whose names may be chosen by a server. A validator in the record is not stored a second time. Unknown lines before the record stay, byte for byte and in order, when the record is
/// rewritten, so a later version can add lines without a new format.
struct ResponseLines: Sendable {
    private enum Name {
        static let etag = "etag"
        static let lastModified = "last-modified"
        static let receivedHash = "x-received-hash"
        static let record = "x-record"
        static let variant = "x-size"
    }

    private typealias Line = ArraySlice<UInt8>
    private static let lineFeed: UInt8 = 0x0A

    /// The version of the record's lines.
    private static let recordVersion = "1"
    /// The maximum number of bytes of a record; longer ones are not stored.
    static let longestRecord = 32 << 10
    /// The number of bytes of lines of the maximum number of variants, with six digits for each number.
    static let variantsRoom = StoredVariant.mostCount * 80

    /// The lines without line feeds, and without those of the record.
    private var lines: [Line] = []
    /// The line that begins the record and all bytes after it, with line feeds; empty without a record.
    private var recordLines: Line = []

    init(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: Self.lineFeed) ?? bytes.count
            let line = bytes[start..<end]
            if Self.isLine(line, of: Name.record) {
                recordLines = bytes[start...]
                if bytes.last != Self.lineFeed { recordLines.append(Self.lineFeed) }
                return
            }
            if !line.isEmpty { lines.append(line) }
            start = end + 1
        }
    }

    var isEmpty: Bool { lines.isEmpty && recordLines.isEmpty }

    var bytes: Data {
        var output: [UInt8] = []
        output.reserveCapacity(lines.reduce(recordLines.count) { $0 + $1.count + 1 })
        for line in lines {
            output += line
            output.append(Self.lineFeed)
        }
        output += recordLines
        return Data(output)
    }

    /// True if the response has a validator, or a record, from which its freshness lifetime is computed.
    var mayChange: Bool {
        !recordLines.isEmpty
            || lines.contains { Self.isLine($0, of: Name.etag) || Self.isLine($0, of: Name.lastModified) }
    }

    /// The validators among the lines; nil if there are none that are usable. Setting them leaves the other lines unchanged.
    var validators: CacheValidators? {
        get {
            CacheValidators(
                etag: value(Name.etag),
                lastModified: value(Name.lastModified),
                record: record,
                receivedHash: value(Name.receivedHash).flatMap(Self.number)
            )
        }
        set {
            let record = setRecord(newValue?.record)
            let known = record?.facts.validators
            set(Name.etag, newValue?.etag == known?.etag ? nil : newValue?.etag)
            set(Name.lastModified, newValue?.lastModified == known?.lastModified ? nil : newValue?.lastModified)
            set(Name.receivedHash, newValue?.receivedHash.map(Self.hexadecimal))
        }
    }

    /// The images of other sizes, the oldest first. Lines that are not understood are not returned, but kept when others are set.
    var variants: [StoredVariant] {
        get { Array(lines.compactMap { Self.variant($0) }.suffix(StoredVariant.mostCount)) }
        set {
            lines.removeAll { Self.variant($0) != nil }
            for variant in newValue { lines.append(Line("\(Name.variant): \(variant.line)".utf8)) }
        }
    }

    private static func variant(_ line: Line) -> StoredVariant? {
        guard isLine(line, of: Name.variant) else { return nil }
        return text(line, of: Name.variant).flatMap { StoredVariant(line: $0) }
    }

    private var record: HTTPCacheRecord? {
        let lines = recordLines.split(separator: Self.lineFeed)
        guard let first = lines.first, Self.text(first, of: Name.record) == Self.recordVersion else { return nil }
        return HTTPCacheRecord(lines: lines.dropFirst().compactMap { String(validating: $0, as: UTF8.self) })
    }

    /// Replaces the record. Returns the stored record; nil if it cannot be stored.
    private mutating func setRecord(_ record: HTTPCacheRecord?) -> HTTPCacheRecord? {
        recordLines = []
        guard let record else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(512)
        output += Name.record.utf8
        output += ": ".utf8
        output += Self.recordVersion.utf8
        output.append(Self.lineFeed)
        let begin = output.count
        record.appendLines(to: &output)
        guard output.count - begin <= Self.longestRecord else { return nil }
        recordLines = output[...]
        return record
    }

    private func value(_ name: String) -> String? {
        lines.first { Self.isLine($0, of: name) }.flatMap { Self.text($0, of: name) }
    }

    private mutating func set(_ name: String, _ value: String?) {
        lines.removeAll { Self.isLine($0, of: name) }
        if let value { lines.append(Line("\(name): \(value)".utf8)) }
    }

    private static func isLine(_ line: Line, of name: String) -> Bool {
        let count = name.utf8.count
        return line.count >= count + 2 && line.starts(with: name.utf8) && line.dropFirst(count).starts(with: ": ".utf8)
    }

    private static func text(_ line: Line, of name: String) -> String? {
        String(validating: line.dropFirst(name.utf8.count + 2), as: UTF8.self)
    }

    fileprivate static func number(_ digits: String) -> UInt64? {
        guard digits.utf8.count == 16, digits.utf8.first != UInt8(ascii: "+") else { return nil }
        return UInt64(digits, radix: 16)
    }

    fileprivate static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension StoredVariant {
    /// The variant as text: width and height, those of the original, width and height of the box (0 and 0 for none), the fit, 1 for an exact
    /// image and 0 for others, and the kind.
    var line: String {
        let (boxWidth, boxHeight) = (box?.width ?? 0, box?.height ?? 0)
        let numbers = [width, height, sourceWidth, sourceHeight].map(String.init)
        let sides = [boxWidth, boxHeight].map(FixedDecimal.string)
        let flags = [String(fit.rawValue), isExact ? "1" : "0", ResponseLines.hexadecimal(kind)]
        return (numbers + sides + flags).joined(separator: " ")
    }

    /// The maximum number of pixels of a side that is parsed: the number of pixels of an image is then far from the largest integer.
    private static let longestSide = 1 << 24

    /// Parses ``line``; nil if it is anything else.
    init?(line: String) {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 9 else { return nil }
        let sides = fields[..<4].compactMap { Int($0) }
        let box = fields[4..<6].compactMap { Double($0) }
        guard sides.count == 4, sides.allSatisfy((1...Self.longestSide).contains),
            box.count == 2, box.allSatisfy(\.isFinite),
            let fit = Int(fields[6]).flatMap(Fit.init), ["0", "1"].contains(fields[7]),
            let kind = ResponseLines.number(String(fields[8]))
        else { return nil }
        let size = ImageSize(width: box[0], height: box[1])
        guard size.isUsable || size == ImageSize(width: 0, height: 0) else { return nil }
        self.init(
            size: (sides[0], sides[1]),
            sourceSize: (sides[2], sides[3]),
            box: size.isUsable ? size : nil,
            fit: fit,
            kind: kind,
            isExact: fields[7] == "1"
        )
    }
}
