import WebImageCodecs

/// How long the frames of a sequence are shown and how often, from the boxes of its track.
///
/// libavif tells the first, in time that grows with the square of the number of frames, and not the second.
struct AVIFTimetable {
    private(set) var durations: [Double] = []
    /// 0 is for ever, also where the file does not say it.
    private(set) var loopCount = 0

    init(_ bytes: ByteReader, frameCount: Int) {
        let tracks = ISOBox.boxes(in: bytes, 0..<bytes.count).filter { $0.type == fourCC("moov") }
            .flatMap { $0.children(in: bytes) }.filter { $0.type == fourCC("trak") }
        // That of alpha has another handler.
        let track = tracks.first { track in
            let handler = track.child("mdia", in: bytes)?.child("hdlr", in: bytes)
            return handler.flatMap { bytes.bigEndian32($0.content.lowerBound + 8) } == fourCC("pict")
        }
        if let track {
            readDurations(track, bytes, frameCount)
            readLoops(track, bytes)
        }
        // What the table leaves out is as long as the last that it names.
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

    /// An edit list that is to be repeated plays until the track's time is over; one that is not, once.
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
