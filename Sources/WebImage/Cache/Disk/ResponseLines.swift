import FoundationEssentials

/// What is kept of the answer that a picture came with: lines `name: value` in UTF-8, each ended by a line feed.
///
/// This version knows `etag`, `last-modified` and `x-received-hash` (sixteen hexadecimal digits). Other lines stay, byte for
/// byte and in their order, when the record is written again, so a later version adds lines and no formats.
struct ResponseLines: Sendable {
    private enum Name {
        static let etag = "etag"
        static let lastModified = "last-modified"
        static let receivedHash = "x-received-hash"
    }

    /// Without their line feeds.
    private var lines: [Data]

    init(_ bytes: Data) { lines = bytes.split(separator: 0x0A) }

    var isEmpty: Bool { lines.isEmpty }

    var bytes: Data {
        var output = Data(capacity: lines.reduce(0) { $0 + $1.count + 1 })
        for line in lines {
            output += line
            output.append(0x0A)
        }
        return output
    }

    /// The validators among the lines; nil when there are none that can be used. Setting them leaves the other lines alone.
    var validators: CacheValidators? {
        get {
            CacheValidators(
                etag: value(Name.etag),
                lastModified: value(Name.lastModified),
                receivedHash: value(Name.receivedHash).flatMap(Self.number)
            )
        }
        set {
            set(Name.etag, newValue?.etag)
            set(Name.lastModified, newValue?.lastModified)
            set(Name.receivedHash, newValue?.receivedHash.map(Self.hexadecimal))
        }
    }

    private func value(_ name: String) -> String? {
        guard let line = lines.first(where: { Self.isLine($0, of: name) }) else { return nil }
        return String(validating: line.dropFirst(name.utf8.count + 2), as: UTF8.self)
    }

    private mutating func set(_ name: String, _ value: String?) {
        lines.removeAll { Self.isLine($0, of: name) }
        if let value { lines.append(Data("\(name): \(value)".utf8)) }
    }

    private static func isLine(_ line: Data, of name: String) -> Bool {
        line.count >= name.utf8.count + 2 && line.starts(with: name.utf8)
            && line.dropFirst(name.utf8.count).starts(with: ": ".utf8)
    }

    private static func number(_ digits: String) -> UInt64? {
        guard digits.utf8.count == 16, digits.utf8.first != UInt8(ascii: "+") else { return nil }
        return UInt64(digits, radix: 16)
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
