import Glibc

/// A cache key split by the generic URL grammar (RFC 3986, appendix B), byte for byte and without changing it.
///
/// Every string has such parts; a key that is not a URL is all path, up to the first "?" or "#". Not built on `URL`, because the
/// names of files on disk depend on it and must not change with a toolchain.
package struct KeyParts {
    private let key: String
    /// The number of bytes of the scheme; nil for a relative key.
    private let schemeCount: Int?
    /// The bytes of the path.
    private let pathBytes: Range<Int>

    package init(_ key: String) {
        self.key = key
        (schemeCount, pathBytes) = key.utf8Span.span.withUnsafeBufferPointer { Self.split($0) }
    }

    // Bytes at their addresses: every read of an entry on disk splits its key, and the views of a string take several times as long.

    private static func split(_ key: UnsafeBufferPointer<UInt8>) -> (schemeCount: Int?, path: Range<Int>) {
        let schemeCount = schemeCount(key)
        var start = schemeCount.map { $0 + 1 } ?? 0
        if key.count - start >= 2, key[start] == .slash, key[start + 1] == .slash {
            start += 2
            let end = end(ofPathFrom: start, in: key)
            return (schemeCount, (first(.slash, in: start..<end, of: key) ?? end)..<end)
        }
        return (schemeCount, start..<end(ofPathFrom: start, in: key))
    }

    /// The part before ":"; nil for a relative key.
    package var scheme: Substring? { schemeCount.map { text(0..<$0) } }

    /// The path, still percent-encoded.
    var path: Substring { text(pathBytes) }

    /// The path extension as written, without the dot: the text after the last dot of the last component. Empty if the component
    /// starts or ends with that dot, or starts with "..", and if the text is not an extension: if it has a space ("Mr. Smith"), or a
    /// percent-encoding that is not valid UTF-8.
    package var encodedExtension: Substring {
        let ext = key.utf8Span.span.withUnsafeBufferPointer { Self.textAfterDot(in: $0, pathBytes) }
        guard let ext else { return "" }
        let text = text(ext)
        guard let decoded = Self.percentDecoded(text), !decoded.utf8.contains(.space) else { return "" }
        return text
    }

    /// The path extension, percent-decoded.
    package var pathExtension: String { Self.percentDecoded(encodedExtension) ?? "" }

    /// Indicates whether the key is a file URL.
    package var isFileURL: Bool { scheme?.lowercased() == "file" }

    private func text(_ bytes: Range<Int>) -> Substring {
        let start = key.utf8.index(key.startIndex, offsetBy: bytes.lowerBound)
        return key[start..<key.utf8.index(start, offsetBy: bytes.count)]
    }

    /// Returns where the text after the last dot of a key's path is, as far as it depends on dots and slashes; see ``encodedExtension``. Nil if the
    /// component has no such dot, starts or ends with it, or starts with "..".
    package static func textAfterDot(in key: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        textAfterDot(in: key, split(key).path)
    }

    private static func textAfterDot(in key: UnsafeBufferPointer<UInt8>, _ path: Range<Int>) -> Range<Int>? {
        var end = path.upperBound
        while end > path.lowerBound, key[end - 1] == .slash { end -= 1 }
        let start = last(.slash, in: path.lowerBound..<end, of: key).map { $0 + 1 } ?? path.lowerBound
        guard let dot = last(.dot, in: start..<end, of: key), dot + 1 < end, dot > start,
            !(key[start] == .dot && key[start + 1] == .dot)
        else { return nil }
        return (dot + 1)..<end
    }

    private static func end(ofPathFrom start: Int, in key: UnsafeBufferPointer<UInt8>) -> Int {
        let end = first(.questionMark, in: start..<key.count, of: key) ?? key.count
        return first(.hash, in: start..<end, of: key) ?? end
    }

    private static func first(_ byte: UInt8, in range: Range<Int>, of key: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = key.baseAddress, let found = memchr(base + range.lowerBound, Int32(byte), range.count) else {
            return nil
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private static func last(_ byte: UInt8, in range: Range<Int>, of key: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = key.baseAddress else { return nil }
        return range.last { base[$0] == byte }
    }

    private static func schemeCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let first = bytes.first, first.isASCIILetter else { return nil }
        var end = 1
        while end < bytes.count, isOfScheme(bytes[end]) { end += 1 }
        return end < bytes.count && bytes[end] == .colon ? end : nil
    }

    private static func isOfScheme(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == .plus || byte == .minus || byte == .dot
    }

    /// Returns the decoded text; nil if the bytes are not UTF-8. A "%" without two digits after it stays as it is.
    private static func percentDecoded(_ text: Substring) -> String? {
        guard text.utf8.contains(.percent) else { return String(text) }
        var output: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == .percent else {
                output.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(\.hexValue)
            if digits.count == 2 { rest.removeFirst(2) }
            output.append(digits.count == 2 ? digits[0] << 4 | digits[1] : byte)
        }
        return String(validating: output, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate static let slash = UInt8(ascii: "/")
    fileprivate static let questionMark = UInt8(ascii: "?")
    fileprivate static let hash = UInt8(ascii: "#")
    fileprivate static let dot = UInt8(ascii: ".")
    fileprivate static let colon = UInt8(ascii: ":")
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let plus = UInt8(ascii: "+")
    fileprivate static let minus = UInt8(ascii: "-")
    fileprivate static let percent = UInt8(ascii: "%")

    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 32) }
    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The value of a hexadecimal digit of either case.
    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
