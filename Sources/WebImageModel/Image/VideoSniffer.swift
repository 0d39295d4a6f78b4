/// Detects videos by their first bytes.
enum VideoSniffer {
    /// Returns the format by the brands of an `ftyp` box that ends at `end`: the first known one, the major one first; ``ImageFormat/undefined`` if
    /// none is known. A camera's raw format (`crx `) and audio (`M4A `) are not videos, whatever other brands they name.
    static func isoBaseMedia(_ bytes: UnsafeRawBufferPointer, end: Int) -> ImageFormat {
        for offset in [8] + Array(stride(from: 16, to: end - 3, by: 4)) {
            let brand = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            switch brand {
            case fourCC("qt  "): return .quickTime
            case fourCC("crx "), fourCC("M4A "), fourCC("M4B "), fourCC("M4P "): return .undefined
            case _ where isMP4(brand): return .mp4
            default: continue
            }
        }
        return .undefined
    }

    private static func isMP4(_ brand: UInt32) -> Bool {
        switch brand {
        case fourCC("isom"), fourCC("avc1"), fourCC("mp41"), fourCC("mp42"), fourCC("mp71"), fourCC("av01"),
            fourCC("dash"),
            fourCC("msdh"), fourCC("msnv"), fourCC("MSNV"), fourCC("M4V "), fourCC("M4VH"), fourCC("M4VP"),
            fourCC("f4v "),
            fourCC("F4V "), fourCC("cmfc"), fourCC("cmfs"), fourCC("XAVC"):
            return true
        default:
            // "iso2" … "iso9", "3gp4" …, "3g2a" ….
            let start = brand >> 8
            return start == fourCC("iso ") >> 8 || start == fourCC("3gp ") >> 8 || start == fourCC("3g2 ") >> 8
        }
    }

    /// Returns whether the data begins like a movie that is older than brands: with an atom that only such files begin with.
    static func isQuickTimeWithoutBrands(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 16 else { return false }
        let size = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        guard size == 1 || size >= 8 else { return false }
        func isType(_ offset: Int, _ names: [StaticString]) -> Bool {
            let type = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            return names.contains { fourCC($0) == type }
        }
        // An atom "wide" is empty, so the next one follows.
        if isType(4, ["wide"]) { return size == 8 && isType(12, ["mdat", "moov"]) }
        if isType(4, ["moov"]) { return isType(12, ["mvhd", "cmov", "rmra"]) }
        return isType(4, ["mdat"])
    }

    /// Returns WebM or Matroska by the `DocType` of an EBML header; ``ImageFormat/undefined`` for other documents.
    static func matroska(_ bytes: UnsafeRawBufferPointer) -> ImageFormat {
        var offset = 4
        guard let size = number(bytes, &offset) else { return .undefined }
        let end = min(offset + min(size, 4096), bytes.count)
        while offset + 2 < end {
            let isDocType = bytes[offset] == 0x42 && bytes[offset + 1] == 0x82
            // The identifiers of a header have one or two bytes.
            offset += bytes[offset] >= 0x80 ? 1 : 2
            guard let count = number(bytes, &offset), count <= end - offset else { return .undefined }
            if isDocType {
                let name = bytes[offset..<offset + count].prefix { $0 != 0 }
                return name.elementsEqual("webm".utf8)
                    ? .webM : name.elementsEqual("matroska".utf8) ? .matroska : .undefined
            }
            offset += count
        }
        return .undefined
    }

    /// Reads a number of variable length.
    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Int? {
        guard offset < bytes.count, bytes[offset] != 0 else { return nil }
        let length = bytes[offset].leadingZeroBitCount + 1
        guard offset + length <= bytes.count else { return nil }
        var value = Int(bytes[offset]) & (0xFF >> length)
        for index in 1..<max(length, 1) { value = value << 8 | Int(bytes[offset + index]) }
        offset += length
        return value
    }
}

extension ImageFormat {
    /// Returns whether the path of an absolute URL ends with the extension of a video. Cheaper than parsing the URL.
    package static func isVideo(address: String) -> Bool {
        let bytes = address.utf8
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let dot = path.suffix(6).lastIndex(of: UInt8(ascii: ".")) else { return false }
        return ImageFormat(fileExtension: String(address[dot..<path.endIndex])).isVideo
    }
}
