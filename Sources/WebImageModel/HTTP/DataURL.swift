package import FoundationEssentials

/// A parsed `data:` URL (RFC 2397).
package struct DataURL {
    /// The media type in lower case with its parameters; "text/plain;charset=US-ASCII" if left out.
    package let mediaType: String
    /// The decoded data after the comma.
    package let data: Data

    /// Parses the text of a URL.
    ///
    /// - Throws: ``WebImageError/Code/invalidURL`` for another scheme or without a comma,
    ///   ``WebImageError/Code/badImageData`` for text that is not base64, ``WebImageError/Code/limitExceeded`` naming
    ///   `maximumDataURLByteCount`, before anything is decoded.
    package init(_ text: String, limit: Int) throws(WebImageError) {
        var text = text
        let result: Result<(String, Data), WebImageError> = text.withUTF8 { bytes in
            do throws(WebImageError) { return .success(try Self.parse(bytes, limit: limit)) } catch {
                return .failure(error)
            }
        }
        (mediaType, data) = try result.get()
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        limit: Int
    ) throws(WebImageError) -> (String, Data) {
        guard bytes.count >= 5, bytes[..<5].map({ $0 | 0x20 }).elementsEqual("data:".utf8.map { $0 | 0x20 }) else {
            throw WebImageError(.invalidURL, "the URL is not a data URL")
        }
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else {
            throw WebImageError(.invalidURL, "the data URL has no comma")
        }
        let end = bytes[comma...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let body = bytes[(comma + 1)..<end]
        let header = bytes[5..<comma].percentDecoded
        let (type, isBase64) = split(header)
        // A lower bound: an escape's three bytes become one, and padding stands for up to two bytes of base64.
        try check(isBase64 ? body.count / 12 * 3 - 2 : body.count / 3, limit)
        let decoded = body.percentDecoded
        try check(isBase64 ? decoded.count / 4 * 3 - 2 : decoded.count, limit)
        let data = isBase64 ? try base64Decoded(decoded) : Data(decoded)
        try check(data.count, limit)
        return (type, data)
    }

    private static func check(_ byteCount: Int, _ limit: Int) throws(WebImageError) {
        guard byteCount <= limit else {
            throw .limitExceeded("maximumDataURLByteCount", allowed: limit, required: byteCount)
        }
    }

    private static func split(_ header: [UInt8]) -> (String, Bool) {
        var text = String(decoding: header, as: UTF8.self).lowercased().filter { $0 != " " }
        let isBase64 = text.hasSuffix(";base64")
        if isBase64 { text.removeLast(7) }
        if text.isEmpty { text = "text/plain;charset=us-ascii" }
        return (text, isBase64)
    }

    /// Decodes base64. White space is skipped and padding may be missing, as in browsers; anything else must be valid.
    private static func base64Decoded(_ bytes: [UInt8]) throws(WebImageError) -> Data {
        var characters = bytes.filter { $0 != 32 && !(9...13).contains($0) }
        let padding = UInt8(ascii: "=")
        if characters.count % 4 == 0 {
            for _ in 0..<2 where characters.last == padding { characters.removeLast() }
        }
        let isUnpadded = characters.count % 4 != 1 && !characters.contains(padding)
        while characters.count % 4 != 0, isUnpadded { characters.append(padding) }
        guard isUnpadded, let data = Data(base64Encoded: Data(characters)) else {
            throw WebImageError(.badImageData, "the data URL's text is not base64")
        }
        return data
    }
}

extension Collection<UInt8> where SubSequence == Self {
    /// The percent-decoded bytes. A "%" without two digits is kept as it is.
    package var percentDecoded: [UInt8] {
        var rest = self
        var result: [UInt8] = []
        result.reserveCapacity(count)
        while let byte = rest.popFirst() {
            let digits = byte == UInt8(ascii: "%") ? rest.prefix(2).compactMap(\.hexValue) : []
            if digits.count == 2 { rest.removeFirst(2) }
            result.append(digits.count == 2 ? digits[0] << 4 | digits[1] : byte)
        }
        return result
    }
}
