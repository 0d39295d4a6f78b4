/// A directive of a list like `Cache-Control` (RFC 9111, 5.2): a name with an optional value.
package struct HTTPDirective: Sendable, Hashable {
    /// The part after the name.
    enum Argument: Sendable, Hashable {
        case none
        /// A token, or a quoted string without quotes and escapes.
        case text([UInt8])
        /// An argument that the grammar does not allow.
        case malformed
    }

    /// The maximum number of seconds (RFC 9111, 1.2.2); larger numbers count as this.
    package static let longestTime = 2_147_483_648.0

    /// The name in lower case; empty if missing.
    var name: String
    var argument: Argument

    /// The argument as a number of seconds; nil if it is not a number.
    package var seconds: Double? {
        guard case .text(let bytes) = argument else { return nil }
        return Self.seconds(bytes)
    }

    /// Parses digits as seconds; nil for anything but digits.
    package static func seconds(_ digits: some Sequence<UInt8>) -> Double? {
        var result: Double?
        for byte in digits {
            guard (48...57).contains(byte) else { return nil }
            result = min((result ?? 0) * 10 + Double(byte - 48), longestTime)
        }
        return result
    }
}

/// Reads the directives of a field's value one by one, in time proportional to its length.
///
/// A syntax error ends at the next comma: the directive after it counts. A quotation mark that is not closed is an ordinary
/// character, so that it cannot hide later directives.
struct HTTPDirectiveReader {
    private let bytes: [UInt8]
    private var position = 0
    private var hasOpenQuote = false

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the next directive; nil at the end.
    mutating func next() -> HTTPDirective? {
        skip { Self.isSpace($0) || $0 == Self.comma }
        guard position < bytes.count else { return nil }
        let name = take { !Self.isSpace($0) && $0 != Self.comma && $0 != Self.equals && $0 != Self.quote }
        var argument = HTTPDirective.Argument.none
        if current == Self.equals {
            position += 1
            argument = readArgument()
        }
        skip(where: Self.isSpace)
        if let current, current != Self.comma {
            argument = .malformed
            skipToComma()
        }
        return HTTPDirective(name: Self.lowercased(name), argument: argument)
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func readArgument() -> HTTPDirective.Argument {
        if current == Self.quote { return quoted().map { .text($0) } ?? .malformed }
        let token = take { !Self.isSpace($0) && $0 != Self.comma && $0 != Self.quote }
        return token.isEmpty ? .malformed : .text(Array(token))
    }

    /// Returns the text between the quotation mark at the position and the closing one; nil if it is not closed, with the position
    /// behind the mark.
    private mutating func quoted() -> [UInt8]? {
        position += 1
        guard !hasOpenQuote else { return nil }
        var text: [UInt8] = []
        var index = position
        while index < bytes.count {
            var byte = bytes[index]
            if byte == Self.quote {
                position = index + 1
                return text
            }
            if byte == Self.backslash, index + 1 < bytes.count {
                index += 1
                byte = bytes[index]
            }
            text.append(byte)
            index += 1
        }
        hasOpenQuote = true
        return nil
    }

    private mutating func skipToComma() {
        while let byte = current, byte != Self.comma {
            if byte == Self.quote {
                _ = quoted()
            } else {
                position += 1
            }
        }
    }

    private mutating func skip(where isSkipped: (UInt8) -> Bool) {
        while let byte = current, isSkipped(byte) { position += 1 }
    }

    private mutating func take(where isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        skip(where: isTaken)
        return bytes[start..<position]
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 }, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    private static let comma = UInt8(ascii: ",")
    private static let equals = UInt8(ascii: "=")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
}
