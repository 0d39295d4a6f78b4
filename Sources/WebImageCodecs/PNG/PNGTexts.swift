import CPNGShims
package import FoundationEssentials

/// The size and the texts of a PNG file, read without its pixels.
///
/// Latin-1 texts (`tEXt`) and compressed ones (`zTXt`, which Qt writes for texts of 40 characters and more).
package struct PNGTexts: Sendable {
    package let width: Int
    package let height: Int
    private let values: [String: String]

    /// The maximum number of bytes of a text. The longest path of a file has 12 KiB as a URL.
    private static let maximumByteCount = 16 << 10

    /// The text of a keyword; nil without one.
    package subscript(_ keyword: String) -> String? { values[keyword] }

    /// Reads the chunks of a whole file, those after the pixels, too.
    ///
    /// - Parameter keywords: Other texts are skipped.
    /// - Returns: nil if the file is no PNG or ends too early, and if a text with one of the keywords is damaged, too long or not the only one.
    package init?(_ data: Data, keywords: Set<String>) {
        guard let found = data.withUnsafeBytes({ Self.read(ByteReader($0), keywords) }) else { return nil }
        self = found
    }

    private init(width: Int, height: Int, values: [String: String]) {
        (self.width, self.height, self.values) = (width, height, values)
    }

    private static func read(_ reader: ByteReader, _ keywords: Set<String>) -> PNGTexts? {
        guard ImageFormat(detecting: reader.bytes) == .png, reader.bigEndian32(8) == 13,
            reader.bigEndian32(12) == fourCC("IHDR"), let width = reader.bigEndian32(16),
            let height = reader.bigEndian32(20), width > 0, height > 0
        else { return nil }
        var (values, offset): ([String: String], Int) = ([:], 33)
        while let length = reader.bigEndian32(offset), let type = reader.bigEndian32(offset + 4),
            let chunk = reader.slice(offset + 8, Int(length)),
            let checksum = reader.bigEndian32(offset + 8 + Int(length))
        {
            let isCompressed = type == fourCC("zTXt")
            if isCompressed || type == fourCC("tEXt"), let keyword = keyword(of: chunk), keywords.contains(keyword) {
                let body = UnsafeRawBufferPointer(rebasing: chunk.dropFirst(keyword.utf8.count + 1))
                guard values[keyword] == nil, checksum == self.checksum(reader.slice(offset + 4, Int(length) + 4)),
                    let text = text(body, isCompressed: isCompressed)
                else { return nil }
                values[keyword] = text
            }
            if type == fourCC("IEND") { return PNGTexts(width: Int(width), height: Int(height), values: values) }
            offset += 12 + Int(length)
        }
        return nil
    }

    /// Returns the keyword that a text chunk begins with; nil if it is not ASCII.
    private static func keyword(of chunk: UnsafeRawBufferPointer) -> String? {
        guard let end = chunk.prefix(80).firstIndex(of: 0), chunk[..<end].allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(decoding: chunk[..<end], as: UTF8.self)
    }

    private static func text(_ body: UnsafeRawBufferPointer, isCompressed: Bool) -> String? {
        guard isCompressed else { return body.count <= maximumByteCount ? latin1(body) : nil }
        // The first byte is the method, of which there is one.
        guard body.first == 0 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: maximumByteCount, alignment: 16) { buffer in
            let input = UnsafeRawBufferPointer(rebasing: body.dropFirst())
            let count = webimage_png_inflate(input.baseAddress, input.count, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : latin1(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static func latin1(_ bytes: UnsafeRawBufferPointer) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer?) -> UInt32 {
        bytes.map { webimage_png_checksum($0.baseAddress, $0.count) } ?? 0
    }
}

extension PNGTexts {
    /// Returns a PNG file with texts in ASCII (`tEXt`) after its header; nil if the data is no PNG.
    package static func adding(_ texts: [(keyword: String, text: String)], to data: Data) -> Data? {
        let headerEnd = 33
        guard data.count > headerEnd, ImageFormat(detecting: data) == .png else { return nil }
        var result = Data(data.prefix(headerEnd))
        for (keyword, text) in texts {
            let content = Data("tEXt\(keyword)".utf8) + [0] + Data(text.utf8)
            result.append(bigEndian: UInt32(content.count - 4))
            result.append(content)
            result.append(bigEndian: content.withUnsafeBytes { checksum($0) })
        }
        return result + data.dropFirst(headerEnd)
    }
}

extension Data {
    fileprivate mutating func append(bigEndian value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
