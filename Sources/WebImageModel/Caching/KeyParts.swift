/// A cache key split by the generic URL grammar (RFC 3986, appendix B), byte for byte and without changing it.
///
/// Every string has such parts; a key that is not a URL is all path, up to the first "?" or "#". Not built on `URL`, because the
/// names of files on disk depend on it and must not change with a toolchain.
package struct KeyParts {
    /// The part before ":"; nil for a relative key.
    package let scheme: Substring?
    /// The path, still percent-encoded.
    let path: Substring

    package init(_ key: String) {
        let bytes = key.utf8
        let scheme = Self.scheme(of: key)
        var start = scheme.map { bytes.index(after: $0.endIndex) } ?? bytes.startIndex
        if bytes[start...].starts(with: "//".utf8) {
            let authority = bytes[start...].dropFirst(2)
            start = authority.firstIndex { $0 == .slash || $0 == .questionMark || $0 == .hash } ?? bytes.endIndex
        }
        let end = bytes[start...].firstIndex { $0 == .questionMark || $0 == .hash } ?? bytes.endIndex
        self.scheme = scheme
        path = key[start..<end]
    }

    /// The path extension as written, without the dot: the text after the last dot of the last component. Empty if the component
    /// starts or ends with that dot, or starts with "..", and if the text is not an extension: if it has a space ("Mr. Smith"), or a
    /// percent-encoding that is not valid UTF-8.
    package var encodedExtension: Substring {
        let bytes = path.utf8
        var component = bytes[...]
        while component.last == .slash { component.removeLast() }
        if let slash = component.lastIndex(of: .slash) { component = component[component.index(after: slash)...] }
        guard let dot = component.lastIndex(of: .dot), dot != component.startIndex, !component.starts(with: "..".utf8)
        else { return "" }
        let ext = Substring(component[component.index(after: dot)...])
        guard let decoded = Self.percentDecoded(ext), !decoded.utf8.contains(.space) else { return "" }
        return ext
    }

    /// The path extension, percent-decoded.
    package var pathExtension: String { Self.percentDecoded(encodedExtension) ?? "" }

    /// Indicates whether the key is a file URL.
    package var isFileURL: Bool { scheme?.lowercased() == "file" }

    private static func scheme(of key: String) -> Substring? {
        let bytes = key.utf8
        guard let first = bytes.first, first.isASCIILetter else { return nil }
        let end = bytes.firstIndex {
            !($0.isASCIILetter || $0.isASCIIDigit || $0 == .plus || $0 == .minus || $0 == .dot)
        }
        guard let end, bytes[end] == .colon else { return nil }
        return key[..<end]
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
