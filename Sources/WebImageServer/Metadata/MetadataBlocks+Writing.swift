import FoundationEssentials
import WebImage

extension MetadataBlocks {
    /// The formats that the blocks can be written into.
    static let writableFormats: Set<ImageFormat> = [.jpeg, .png, .webp]

    /// Returns an encoded image that has no metadata with these blocks; unchanged if it is of another format than ``writableFormats``.
    ///
    /// IPTC's records have a place only in JPEG.
    ///
    /// - Throws: ``WebImageError/Code/encodingFailed`` if a block is too long for the format.
    func inserted(into data: Data) throws(WebImageError) -> Data {
        guard self != MetadataBlocks() else { return data }
        return switch ImageFormat(detecting: data) {
        case .jpeg: try insertedIntoJPEG(data)
        case .png: insertedIntoPNG(data)
        case .webp: try insertedIntoWebP(data)
        default: data
        }
    }

    private static func inserting(_ part: Data, at place: Int, into data: Data) -> Data {
        var result = Data(data.prefix(place))
        result.append(part)
        result.append(data.dropFirst(place))
        return result
    }

    // MARK: JPEG

    private func insertedIntoJPEG(_ data: Data) throws(WebImageError) -> Data {
        var segments = Data()
        if let exif { try Self.append(Self.exifPrefix + exif, marker: 0xE1, to: &segments) }
        if let xmp { try Self.append(Self.xmpPrefix + xmp, marker: 0xE1, to: &segments) }
        for segment in xmpExtensions { try Self.append(segment, marker: 0xE1, to: &segments) }
        // Readers join the segments.
        var rest = (resources ?? [])[...]
        while !rest.isEmpty {
            let part = rest.prefix(65_533 - Self.resourcesPrefix.count)
            try Self.append(Self.resourcesPrefix + part, marker: 0xED, to: &segments)
            rest = rest.dropFirst(part.count)
        }
        let bytes = Array(data.prefix(6))
        guard bytes.count == 6 else { return data }
        // JFIF's header must be the first segment.
        let hasHeader = bytes[2] == 0xFF && bytes[3] == 0xE0
        let place = hasHeader ? 4 + (Int(bytes[4]) << 8 | Int(bytes[5])) : 2
        return Self.inserting(segments, at: place, into: data)
    }

    private static func append(_ body: [UInt8], marker: UInt8, to data: inout Data) throws(WebImageError) {
        guard body.count <= 65_533 else {
            throw WebImageError(.encodingFailed, "metadata of \(body.count) bytes does not fit into a JPEG")
        }
        let count = body.count + 2
        data.append(contentsOf: [0xFF, marker, UInt8(count >> 8), UInt8(count & 0xFF)])
        data.append(contentsOf: body)
    }

    // MARK: PNG

    private func insertedIntoPNG(_ data: Data) -> Data {
        var chunks = Data()
        if let exif { Self.appendChunk("eXIf", exif, to: &chunks) }
        // Not compressed, without a language and a translated keyword.
        if let xmp { Self.appendChunk("iTXt", Self.xmpKeyword + [0, 0, 0, 0] + xmp, to: &chunks) }
        // Behind the signature and the header.
        return Self.inserting(chunks, at: 33, into: data)
    }

    private static func appendChunk(_ name: String, _ body: [UInt8], to data: inout Data) {
        let named = Array(name.utf8) + body
        withUnsafeBytes(of: UInt32(body.count).bigEndian) { data.append(contentsOf: $0) }
        data.append(contentsOf: named)
        withUnsafeBytes(of: checksum(of: named).bigEndian) { data.append(contentsOf: $0) }
    }

    /// The CRC-32 of PNG. Metadata is short, so a table is not worth it.
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        var rest: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            rest ^= UInt32(byte)
            for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        }
        return ~rest
    }

    // MARK: WebP

    private func insertedIntoWebP(_ data: Data) throws(WebImageError) -> Data {
        var blocks = Data()
        if let exif { Self.appendWebPChunk("EXIF", exif, to: &blocks) }
        if let xmp { Self.appendWebPChunk("XMP ", xmp, to: &blocks) }
        let flags: UInt8 = (exif == nil ? 0 : 0x08) | (xmp == nil ? 0 : 0x04)
        var body = Data(data.dropFirst(12))
        if body.starts(with: "VP8X".utf8) {
            guard body.count >= 18 else { return data }
            body[body.startIndex + 8] |= flags
        } else {
            guard let header = Self.extendedHeader(for: Array(body.prefix(30)), flags) else { return data }
            body = header + body
        }
        body += blocks
        guard body.count < Int(UInt32.max) - 16 else {
            throw WebImageError(.encodingFailed, "a WebP of \(body.count) bytes is too long")
        }
        var result = Data("RIFF".utf8)
        withUnsafeBytes(of: UInt32(body.count + 4).littleEndian) { result.append(contentsOf: $0) }
        return result + Data("WEBP".utf8) + body
    }

    private static func appendWebPChunk(_ name: String, _ body: [UInt8], to data: inout Data) {
        data.append(contentsOf: name.utf8)
        withUnsafeBytes(of: UInt32(body.count).littleEndian) { data.append(contentsOf: $0) }
        data.append(contentsOf: body)
        if body.count % 2 == 1 { data.append(0) }
    }

    /// Returns the header that files with metadata begin with, with the size in the only chunk; nil for an unknown chunk.
    private static func extendedHeader(for chunk: [UInt8], _ flags: UInt8) -> Data? {
        guard chunk.count >= 18 else { return nil }
        func number(_ index: Int) -> Int { Int(chunk[index]) | Int(chunk[index + 1]) << 8 }
        var flags = flags
        let (width, height): (Int, Int)
        if chunk.starts(with: "VP8 ".utf8) {
            (width, height) = (number(14) & 0x3FFF, number(16) & 0x3FFF)
        } else if chunk.starts(with: "VP8L".utf8) {
            // Behind the signature: 14 bits for each side less one, and the bit for alpha.
            let bits = number(9) | number(11) << 16
            (width, height) = ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
            if bits >> 28 & 1 == 1 { flags |= 0x10 }
        } else {
            return nil
        }
        guard width > 0, height > 0 else { return nil }
        var header: [UInt8] = [flags, 0, 0, 0]
        for side in [width - 1, height - 1] {
            header += [UInt8(side & 0xFF), UInt8(side >> 8 & 0xFF), UInt8(side >> 16 & 0xFF)]
        }
        var data = Data()
        appendWebPChunk("VP8X", header, to: &data)
        return data
    }
}
