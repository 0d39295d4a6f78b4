import WebImageCodecs

/// Parses the bitstream headers of HEVC images.
enum HEVCSize {
    /// Returns the sequence parameter sets of a configuration record.
    static func headers(inConfiguration box: ISOBox, _ reader: ByteReader) -> [BitstreamHeader] {
        var headers: [BitstreamHeader] = []
        guard let arrays = reader.byte(box.content.lowerBound + 22) else { return [] }
        var offset = box.content.lowerBound + 23
        for _ in 0..<arrays {
            guard let kind = reader.byte(offset), let count = reader.bigEndian16(offset + 1) else { return headers }
            offset += 3
            for _ in 0..<count {
                guard let length = reader.bigEndian16(offset), offset + 2 + length <= box.content.upperBound,
                    let unit = reader.slice(offset + 2, length)
                else { return headers }
                // Decoders ignore the type that the record states.
                if kind & 0x3F == 33 || isSequence(unit), let header = header(ofSequence: unit) {
                    headers.append(header)
                }
                offset += 2 + length
            }
        }
        return headers
    }

    /// Returns the sequence parameter sets among the units of an image, each of which follows its length in four bytes.
    static func headers(inUnits bytes: UnsafeRawBufferPointer) -> [BitstreamHeader] {
        let reader = ByteReader(bytes)
        var headers: [BitstreamHeader] = []
        var offset = 0
        while let length = reader.bigEndian32(offset), let unit = reader.slice(offset + 4, Int(length)) {
            if isSequence(unit), let header = header(ofSequence: unit) { headers.append(header) }
            offset += 4 + Int(length)
        }
        return headers
    }

    /// Returns the number of images that begin among the units of one: decoders decode all of them.
    static func imageCount(inUnits bytes: UnsafeRawBufferPointer) -> Int {
        let reader = ByteReader(bytes)
        var count = 0
        var offset = 0
        while let length = reader.bigEndian32(offset), let unit = reader.slice(offset + 4, Int(length)) {
            // Slices have types below 32; the first bit of a slice marks the first one of an image.
            if unit.count > 2, unit[0] >> 1 & 0x3F < 32, unit[2] & 0x80 != 0 { count += 1 }
            offset += 4 + Int(length)
        }
        return count
    }

    private static func isSequence(_ unit: UnsafeRawBufferPointer) -> Bool {
        unit.first.map { $0 >> 1 & 0x3F == 33 } ?? false
    }

    /// Returns nil when the unit ends before the size; if only the rest is missing, the most expensive format is assumed.
    static func header(ofSequence unit: UnsafeRawBufferPointer) -> BitstreamHeader? {
        var bits = BitReader(withoutStops(unit))
        // The unit's header has two bytes; the ID of the video parameter set has four bits.
        guard bits.skip(16 + 4), let layers = bits.read(3), bits.skip(1), bits.skip(88 + 8) else { return nil }
        if layers > 0 {
            var present: [(profile: Bool, level: Bool)] = []
            for _ in 0..<layers {
                guard let profile = bits.flag(), let level = bits.flag() else { return nil }
                present.append((profile, level))
            }
            guard bits.skip(2 * (8 - layers)) else { return nil }
            for layer in present where !bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) { return nil }
        }
        guard bits.readGolomb() != nil, let chroma = bits.readGolomb() else { return nil }
        if chroma == 3 { _ = bits.skip(1) }
        guard let width = bits.readGolomb(), let height = bits.readGolomb() else { return nil }
        let samples = [2, 3, 4, 6]
        return BitstreamHeader(
            width: width,
            height: height,
            samplesPerTwoPixels: samples.indices.contains(chroma) ? samples[chroma] : 6,
            bitsPerSample: depth(&bits) ?? 16
        )
    }

    private static func depth(_ bits: inout BitReader) -> Int? {
        guard let isCropped = bits.flag() else { return nil }
        if isCropped { for _ in 0..<4 where bits.readGolomb() == nil { return nil } }
        guard let luma = bits.readGolomb(), let chroma = bits.readGolomb() else { return nil }
        return max(luma, chroma) + 8
    }

    /// Returns the start of a unit, without emulation prevention bytes (3). The fields to read are near the beginning.
    private static func withoutStops(_ unit: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for byte in unit.prefix(512) {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }
}
