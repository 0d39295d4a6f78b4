import WebImage

/// The sizes that the HEVC pictures of a file have by their own headers.
///
/// A decoder takes memory for those, whatever the boxes around them say.
enum HEVCSize {
    /// Reads the parameter sets in all `hvcC` boxes.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    static func check(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) throws(WebImageError) {
        let reader = ByteReader(bytes)
        var boxes = ISOBox.boxes(in: reader, 0..<bytes.count)
        let path: [(type: StaticString, skipped: Int)] = [("meta", 4), ("iprp", 0), ("ipco", 0)]
        for (type, skipped) in path {
            let wanted = fourCC(type)
            boxes = boxes.filter { $0.type == wanted }.flatMap { $0.children(in: reader, skipping: skipped) }
        }
        for box in boxes where box.type == fourCC("hvcC") {
            for unit in units(in: box, reader) {
                guard let size = size(ofSequence: unit) else { continue }
                try limits.check(width: max(size.width, 1), height: max(size.height, 1))
            }
        }
    }

    /// The sequence parameter sets of a configuration record.
    private static func units(in box: ISOBox, _ reader: ByteReader) -> [UnsafeRawBufferPointer] {
        var units: [UnsafeRawBufferPointer] = []
        guard let arrays = reader.byte(box.content.lowerBound + 22) else { return [] }
        var offset = box.content.lowerBound + 23
        for _ in 0..<arrays {
            guard let kind = reader.byte(offset), let count = reader.bigEndian16(offset + 1) else { return units }
            offset += 3
            for _ in 0..<count {
                guard let length = reader.bigEndian16(offset), offset + 2 + length <= box.content.upperBound,
                    let unit = reader.slice(offset + 2, length)
                else { return units }
                if kind & 0x3F == 33 { units.append(unit) }
                offset += 2 + length
            }
        }
        return units
    }

    /// `pic_width_in_luma_samples` and its height; nil when the unit ends before.
    static func size(ofSequence unit: UnsafeRawBufferPointer) -> (width: Int, height: Int)? {
        var bits = BitReader(unit)
        // Two bytes are the unit's header, then four bits are the parameter set of films.
        guard bits.skip(16 + 4), let layers = bits.read(3), bits.skip(1), bits.skip(88 + 8) else { return nil }
        if layers > 0 {
            var present: [(profile: Bool, level: Bool)] = []
            for _ in 0..<layers {
                guard let profile = bits.read(1), let level = bits.read(1) else { return nil }
                present.append((profile == 1, level == 1))
            }
            guard bits.skip(2 * (8 - layers)) else { return nil }
            for layer in present where !bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) { return nil }
        }
        guard bits.readGolomb() != nil, let chroma = bits.readGolomb() else { return nil }
        if chroma == 3 { _ = bits.skip(1) }
        guard let width = bits.readGolomb(), let height = bits.readGolomb() else { return nil }
        return (width, height)
    }

    /// Bits of a unit, without the bytes 3 that keep start codes out of it.
    private struct BitReader {
        private let bytes: [UInt8]
        private var position = 0

        init(_ unit: UnsafeRawBufferPointer) {
            var bytes: [UInt8] = []
            var zeros = 0
            // What is looked for lies near the beginning.
            for byte in unit.prefix(512) {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                bytes.append(byte)
            }
            self.bytes = bytes
        }

        mutating func skip(_ count: Int) -> Bool {
            position += count
            return position <= bytes.count * 8
        }

        mutating func read(_ count: Int) -> Int? {
            guard position + count <= bytes.count * 8 else { return nil }
            var value = 0
            for _ in 0..<count {
                value = value << 1 | Int(bytes[position / 8] >> (7 - position % 8) & 1)
                position += 1
            }
            return value
        }

        mutating func readGolomb() -> Int? {
            var zeros = 0
            while let bit = read(1) {
                if bit == 1 { return read(zeros).map { 1 << zeros - 1 + $0 } }
                zeros += 1
                guard zeros <= 32 else { return nil }
            }
            return nil
        }
    }
}
