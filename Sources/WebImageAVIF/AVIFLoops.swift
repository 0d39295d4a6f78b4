import FoundationEssentials
import WebImageCodecs

/// Writes the loop count into a sequence, which libavif before 1.0 does not: as an edit list that is repeated until the end of the track's duration.
struct AVIFLoops {
    private var bytes: [UInt8]
    private var insertions: [Int] = []

    /// - Parameter count: the loop count, at least 1.
    /// - Throws: ``WebImageError/Code/encodingFailed`` when the file does not have libavif's structure.
    static func set(_ count: Int, in file: Data) throws(WebImageError) -> Data {
        var loops = AVIFLoops(bytes: [UInt8](file))
        try loops.edit(count)
        return Data(loops.bytes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static let unexpected = WebImageError(.encodingFailed, "AVIF: the encoder's file has an unexpected layout")
    /// The number of bytes of an edit list's box with one entry.
    private static let listByteCount = 44

    private func number(_ offset: Int) throws(WebImageError) -> UInt64 {
        guard let number = bytes.withUnsafeBytes({ ByteReader($0).bigEndian32(offset) }) else { throw Self.unexpected }
        return UInt64(number)
    }

    private func child(_ type: StaticString, _ box: ISOBox?) throws(WebImageError) -> ISOBox {
        guard let box, let child = bytes.withUnsafeBytes({ box.child(type, in: ByteReader($0)) }) else {
            throw Self.unexpected
        }
        return child
    }

    private mutating func write(_ value: UInt64, at offset: Int, count: Int) {
        for index in 0..<count { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index))) }
    }

    private mutating func edit(_ count: Int) throws(WebImageError) {
        let boxes = bytes.withUnsafeBytes { ISOBox.boxes(in: ByteReader($0), 0..<$0.count) }
        guard let movie = boxes.first(where: { $0.type == fourCC("moov") }),
            let meta = boxes.first(where: { $0.type == fourCC("meta") })
        else { throw Self.unexpected }
        let tracks = bytes.withUnsafeBytes { movie.children(in: ByteReader($0)) }.filter { $0.type == fourCC("trak") }
        let header = try child("mvhd", movie).content.lowerBound
        var longest: UInt64 = 0
        for track in tracks { longest = max(longest, try edit(track, count)) }
        try setDuration(longest, at: header + 24, version: header)
        let shift = UInt64(insertions.count * Self.listByteCount)
        try move(by: shift, meta, tracks, from: movie.content.upperBound)
        try enlarge(movie, by: shift)
        for (index, end) in insertions.enumerated().reversed() {
            bytes.insert(contentsOf: lists[index], at: end)
        }
    }

    private var lists: [[UInt8]] = []

    /// - Returns: the duration of all loops of the track.
    private mutating func edit(_ track: ISOBox, _ count: Int) throws(WebImageError) -> UInt64 {
        let media = try child("mdhd", child("mdia", track)).content.lowerBound
        guard bytes[media] == 1 else { throw Self.unexpected }
        let segment = try number(media + 24) << 32 | number(media + 28)
        let (total, overflow) = segment.multipliedReportingOverflow(by: UInt64(count))
        let duration = overflow ? .max : total
        let header = try child("tkhd", track).content
        try setDuration(duration, at: header.lowerBound + 28, version: header.lowerBound)
        var list: [UInt8] = []
        func append(_ value: UInt64, _ count: Int) {
            for index in (0..<count).reversed() { list.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        append(UInt64(Self.listByteCount), 4)
        append(UInt64(fourCC("edts")), 4)
        append(UInt64(Self.listByteCount - 8), 4)
        append(UInt64(fourCC("elst")), 4)
        append(1 << 24 | (count > 1 ? 1 : 0), 4)
        append(1, 4)
        append(segment, 8)
        append(0, 8)
        append(1 << 16, 4)
        let present = bytes.withUnsafeBytes { track.child("edts", in: ByteReader($0)) }
        if let present {
            guard present.content.count == Self.listByteCount - 8 else { throw Self.unexpected }
            bytes.replaceSubrange(present.content.lowerBound - 8..<present.content.upperBound, with: list)
        } else {
            insertions.append(header.upperBound)
            lists.append(list)
            try enlarge(track, by: UInt64(Self.listByteCount))
        }
        return duration
    }

    private mutating func setDuration(_ duration: UInt64, at offset: Int, version: Int) throws(WebImageError) {
        guard bytes[version] == 1, offset + 8 <= bytes.count else { throw Self.unexpected }
        write(duration, at: offset, count: 8)
    }

    private mutating func enlarge(_ box: ISOBox, by count: UInt64) throws(WebImageError) {
        let size = try number(box.content.lowerBound - 8)
        guard size == UInt64(box.content.count + 8) else { throw Self.unexpected }
        write(size + count, at: box.content.lowerBound - 8, count: 4)
    }

    /// Updates the offsets of the pixel data, which follows the boxes that grow.
    private mutating func move(
        by shift: UInt64,
        _ meta: ISOBox,
        _ tracks: [ISOBox],
        from end: Int
    ) throws(WebImageError) {
        for track in tracks {
            let sampleTable = try child("stbl", child("minf", child("mdia", track)))
            let chunks = try child("stco", sampleTable).content
            let count = Int(try number(chunks.lowerBound + 4))
            guard count <= (chunks.count - 8) / 4 else { throw Self.unexpected }
            for index in 0..<count { try moveOffset(at: chunks.lowerBound + 8 + 4 * index, by: shift, from: end) }
        }
        let children = bytes.withUnsafeBytes { meta.children(in: ByteReader($0), skipping: 4) }
        guard let items = children.first(where: { $0.type == fourCC("iloc") })?.content else { throw Self.unexpected }
        // Version 0, offsets and lengths of four bytes, no base offsets.
        guard try number(items.lowerBound) == 0, try number(items.lowerBound + 4) >> 16 == 0x4400 else {
            throw Self.unexpected
        }
        var offset = items.lowerBound + 8
        for _ in 0..<(try number(items.lowerBound + 4) & 0xFFFF) {
            let extents = try number(offset + 2) & 0xFFFF
            offset += 6
            for _ in 0..<extents {
                try moveOffset(at: offset, by: shift, from: end)
                offset += 8
            }
        }
    }

    private mutating func moveOffset(at place: Int, by shift: UInt64, from end: Int) throws(WebImageError) {
        let offset = try number(place)
        guard offset >= UInt64(end), offset + shift <= UInt32.max else { throw Self.unexpected }
        write(offset + shift, at: place, count: 4)
    }
}
