/// Parses AV1 sequence headers, which state the maximum size and the sample format of the frames.
package enum AV1Sequence {
    /// Returns the headers in a sequence of OBUs.
    package static func headers(in bytes: UnsafeRawBufferPointer) -> [BitstreamHeader] {
        var headers: [BitstreamHeader] = []
        let reader = ByteReader(bytes)
        var offset = 0
        while let header = reader.byte(offset) {
            offset += header & 4 != 0 ? 2 : 1
            var length = max(bytes.count - offset, 0)
            if header & 2 != 0 {
                guard let size = number(reader, &offset) else { break }
                length = min(size, max(bytes.count - offset, 0))
            }
            if header >> 3 & 15 == 1, let unit = reader.slice(offset, length), let sequence = sequenceHeader(unit) {
                headers.append(sequence)
            }
            offset += length
        }
        return headers
    }

    /// Reads a number of seven bits per byte, the lowest first (LEB128).
    private static func number(_ reader: ByteReader, _ offset: inout Int) -> Int? {
        var value = 0
        for index in 0..<8 {
            guard let byte = reader.byte(offset) else { return nil }
            offset += 1
            value |= Int(byte & 127) << (7 * index)
            if byte & 128 == 0 { return value }
        }
        return nil
    }

    /// Returns nil when the header ends before the size; if only the colour information is missing, the most expensive format is assumed.
    static func sequenceHeader(_ unit: UnsafeRawBufferPointer) -> BitstreamHeader? {
        var bits = BitReader(Array(unit.prefix(1024)))
        guard let profile = bits.read(3), bits.skip(1), let isReduced = bits.flag(),
            skipOperatingPoints(&bits, isReduced: isReduced), let widthBits = bits.read(4),
            let heightBits = bits.read(4), let width = bits.read(widthBits + 1), let height = bits.read(heightBits + 1)
        else { return nil }
        var sequence = BitstreamHeader(
            width: width + 1,
            height: height + 1,
            samplesPerTwoPixels: 6,
            bitsPerSample: 12,
            hasGrain: true
        )
        if skipTools(&bits, isReduced: isReduced), let colors = colors(&bits, profile: profile) {
            (sequence.samplesPerTwoPixels, sequence.bitsPerSample) = colors
            sequence.hasGrain = bits.flag() ?? true
        }
        return sequence
    }

    private static func skipOperatingPoints(_ bits: inout BitReader, isReduced: Bool) -> Bool {
        if isReduced { return bits.skip(5) }
        guard let hasTiming = bits.flag() else { return false }
        var delayBits: Int?
        if hasTiming {
            guard bits.skip(64), let isEqual = bits.flag(), !isEqual || skipInterval(&bits),
                let hasModel = bits.flag()
            else { return false }
            if hasModel {
                guard let length = bits.read(5), bits.skip(32 + 5 + 5) else { return false }
                delayBits = length + 1
            }
        }
        guard let hasDelays = bits.flag(), let count = bits.read(5) else { return false }
        for _ in 0...count {
            guard bits.skip(12), let level = bits.read(5), bits.skip(level > 7 ? 1 : 0) else { return false }
            if let delayBits {
                guard let isPresent = bits.flag(), bits.skip(isPresent ? 2 * delayBits + 1 : 0) else { return false }
            }
            if hasDelays {
                guard let isPresent = bits.flag(), bits.skip(isPresent ? 4 : 0) else { return false }
            }
        }
        return true
    }

    /// Skips a `uvlc` number. It differs from HEVC's: 32 zeros are a complete number.
    private static func skipInterval(_ bits: inout BitReader) -> Bool {
        var rest = bits
        if rest.read(32) == 0 {
            bits = rest
            return true
        }
        return bits.readGolomb() != nil
    }

    private static func skipTools(_ bits: inout BitReader, isReduced: Bool) -> Bool {
        if isReduced { return bits.skip(3 + 3) }
        guard let hasNumbers = bits.flag(), bits.skip((hasNumbers ? 7 : 0) + 3 + 4), let hasOrder = bits.flag(),
            bits.skip(hasOrder ? 2 : 0), let choosesTools = bits.flag(), let tools = choosesTools ? 2 : bits.read(1)
        else { return false }
        if tools > 0 {
            guard let choosesVectors = bits.flag(), bits.skip(choosesVectors ? 0 : 1) else { return false }
        }
        return bits.skip((hasOrder ? 3 : 0) + 3)
    }

    /// Reads up to the film grain flag. Missing fields before it are detected there.
    private static func colors(_ bits: inout BitReader, profile: Int) -> (samples: Int, bits: Int)? {
        guard let isDeep = bits.flag() else { return nil }
        var depth = isDeep ? 10 : 8
        if profile == 2, isDeep {
            guard let isDeeper = bits.flag() else { return nil }
            if isDeeper { depth = 12 }
        }
        guard let isGray = profile == 1 ? false : bits.flag(), let isDescribed = bits.flag() else { return nil }
        let codes = isDescribed ? bits.read(24) : 0
        guard let codes else { return nil }
        if isGray { return bits.skip(1) ? (2, depth) : nil }
        // sRGB with identity matrix: always 4:4:4.
        if codes == 1 << 16 | 13 << 8 { return bits.skip(1) ? (6, depth) : nil }
        guard bits.skip(1), let samples = samples(&bits, profile: profile, depth: depth) else { return nil }
        // The chroma sample position, and whether the two chroma planes have separate quantisers.
        return bits.skip((samples == 3 ? 2 : 0) + 1) ? (samples, depth) : nil
    }

    private static func samples(_ bits: inout BitReader, profile: Int, depth: Int) -> Int? {
        if profile < 2 { return profile == 0 ? 3 : 6 }
        guard depth == 12 else { return 4 }
        guard let halvesWidth = bits.flag() else { return nil }
        guard halvesWidth else { return 6 }
        return bits.flag().map { $0 ? 3 : 4 }
    }
}
