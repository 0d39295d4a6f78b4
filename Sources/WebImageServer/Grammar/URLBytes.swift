import Glibc

/// Splits and decodes the bytes of URLs. All functions take time proportional to the number of bytes.
enum URLBytes {
    /// Returns the parts between separators; at least one, which may be empty.
    static func parts<Bytes: Collection<UInt8>>(of bytes: Bytes, separator: UInt8) -> [Bytes.SubSequence] {
        bytes.split(separator: separator, omittingEmptySubsequences: false)
    }

    /// Returns the parts between separators of one or more bytes; at least one part, which may be empty.
    static func parts(of bytes: ArraySlice<UInt8>, separator: [UInt8]) -> [ArraySlice<UInt8>] {
        if let byte = separator.first, separator.count == 1 { return parts(of: bytes, separator: byte) }
        var parts: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        while let found = firstIndex(of: separator, in: bytes[start...]) {
            parts.append(bytes[start..<found])
            start = found + separator.count
        }
        parts.append(bytes[start...])
        return parts
    }

    /// Returns where a text that is not empty occurs first.
    static func firstIndex(of text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let first = text.first, let base = buffer.baseAddress else { return nil }
            var offset = 0
            while offset + text.count <= buffer.count,
                let found = memchr(base + offset, Int32(first), buffer.count - text.count + 1 - offset)
            {
                if memcmp(found, text, text.count) == 0 { return bytes.startIndex + (UnsafeRawPointer(found) - base) }
                offset = UnsafeRawPointer(found) - base + 1
            }
            return nil
        }
    }

    /// Returns bytes in which each occurrence of a text is replaced by a byte.
    static func replacing(_ text: [UInt8], with byte: UInt8, in bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard firstIndex(of: text, in: bytes) != nil else { return Array(bytes) }
        return Array(parts(of: bytes, separator: text).joined(separator: CollectionOfOne(byte)))
    }

    /// Returns bytes with each `%XX` replaced by its byte; nil if two hexadecimal digits do not follow a percent sign.
    static func percentDecoded(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    /// Returns the bytes that base64 in the alphabet for URLs stands for; nil if it is invalid.
    ///
    /// - Parameter allowsPadding: true if `=` may stand at the end, in any number.
    static func base64Decoded(_ text: some Collection<UInt8>, allowsPadding: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        var isPadded = false
        for byte in text {
            if byte == UInt8(ascii: "="), allowsPadding {
                isPadded = true
                continue
            }
            guard !isPadded, let value = base64Value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 {
                decoded.append(UInt8(truncatingIfNeeded: bits >> 16))
                decoded.append(UInt8(truncatingIfNeeded: bits >> 8))
                decoded.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch count % 4 {
        case 1: return nil
        case 2: decoded.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            decoded.append(UInt8(truncatingIfNeeded: bits >> 10))
            decoded.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: break
        }
        return decoded
    }

    /// Returns base64 in the alphabet for URLs.
    static func base64Encoded(_ bytes: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        var rest = bytes
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            let padded = Array(group) + [0, 0]
            let bits = Int(padded[0]) << 16 | Int(padded[1]) << 8 | Int(padded[2])
            for index in 0...group.count { text.append(alphabet[bits >> (18 - 6 * index) & 63]) }
            if isPadded { text += [UInt8](repeating: UInt8(ascii: "="), count: 3 - group.count) }
        }
        return text
    }

    /// Returns the bytes of an even number of hexadecimal digits; nil for anything else.
    static func hexadecimal(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map(digit)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns a text without control characters; nil for bytes that are not UTF-8 or contain such characters.
    static func text(_ bytes: [UInt8]) -> String? {
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The value of a hexadecimal digit.
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func base64Value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
