import WebImageCodecs

/// The durations of the frames of a sequence, and the loop count, from the boxes of its track.
///
/// libavif computes the durations in time quadratic in the number of frames, and does not provide the loop count.
struct AVIFTimetable {
    private(set) var durations: [Double] = []
    /// The loop count. 0 means infinite, also if the file does not state it.
    private(set) var loopCount = 0

    init(_ bytes: ByteReader, frameCount: Int) {
        let tracks = ISOBox.boxes(in: bytes, 0..<bytes.count).filter { $0.type == fourCC("moov") }
            .flatMap { $0.children(in: bytes) }.filter { $0.type == fourCC("trak") }
        // The alpha track has another handler.
        let track = tracks.first { track in
            let handler = track.child("mdia", in: bytes)?.child("hdlr", in: bytes)
            return handler.flatMap { bytes.bigEndian32($0.content.lowerBound + 8) } == fourCC("pict")
        }
        if let track {
            readDurations(track, bytes, frameCount)
            readLoops(track, bytes)
        }
        // Frames beyond the table are as long as the last one in it.
        let last = durations.last ?? FrameDuration.standard
        while durations.count < frameCount { durations.append(last) }
    }

    private mutating func readDurations(_ track: ISOBox, _ bytes: ByteReader, _ frameCount: Int) {
        guard let media = track.child("mdia", in: bytes),
            let header = media.child("mdhd", in: bytes)?.content.lowerBound,
            let version = bytes.byte(header), let timescale = bytes.bigEndian32(header + (version == 1 ? 20 : 12)),
            timescale > 0,
            let table = media.child("minf", in: bytes)?.child("stbl", in: bytes)?.child("stts", in: bytes)?.content
        else { return }
        var offset = table.lowerBound + 8
        while offset + 8 <= table.upperBound, durations.count < frameCount, let count = bytes.bigEndian32(offset),
            let ticks = bytes.bigEndian32(offset + 4)
        {
            let duration = FrameDuration.corrected(Double(ticks) / Double(timescale))
            durations.append(contentsOf: repeatElement(duration, count: min(Int(count), frameCount - durations.count)))
            offset += 8
        }
    }

    /// Reads the loop count. A repeated edit list plays until the end of the track's duration; one that is not repeated plays once.
    private mutating func readLoops(_ track: ISOBox, _ bytes: ByteReader) {
        guard let list = track.child("edts", in: bytes)?.child("elst", in: bytes)?.content.lowerBound,
            let flags = bytes.bigEndian32(list), bytes.bigEndian32(list + 4) == 1,
            let segment = Self.duration(bytes, list + 8, version: flags >> 24)
        else { return }
        guard flags & 1 != 0 else {
            loopCount = 1
            return
        }
        guard let header = track.child("tkhd", in: bytes)?.content.lowerBound, let version = bytes.byte(header),
            let total = Self.duration(bytes, header + (version == 1 ? 28 : 20), version: UInt32(version)), segment > 0,
            total != (version == 1 ? .max : UInt64(UInt32.max))
        else { return }
        loopCount = Int(min(max(total / segment + (total % segment > 0 ? 1 : 0), 1), UInt64(UInt32.max)))
    }

    private static func duration(_ bytes: ByteReader, _ offset: Int, version: UInt32) -> UInt64? {
        guard let high = bytes.bigEndian32(offset) else { return nil }
        guard version == 1 else { return UInt64(high) }
        return bytes.bigEndian32(offset + 4).map { UInt64(high) << 32 | UInt64($0) }
    }
}
