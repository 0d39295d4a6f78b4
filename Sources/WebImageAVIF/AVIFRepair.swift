import WebImageCodecs

/// Rewrites files that libavif does not read correctly. Only boxes change; image data stays where it is.
///
/// * Tracks of sound and text, which older versions reject because they have no size, and auxiliary tracks other than alpha, which it treats as
///   alpha, are hidden.
/// * A grid whose tiles each have an alpha gets a grid of alpha tiles.
/// * A last box without a length gets one.
struct AVIFRepair {
    /// The changed file; nil if no change is needed.
    private(set) var file: [UInt8]?
    private let bytes: UnsafeRawBufferPointer
    private let reader: ByteReader

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        reader = ByteReader(bytes)
        let boxes = placed(ISOBox.boxes(in: reader, 0..<bytes.count), from: 0)
        endLastBox(boxes)
        for (start, box) in boxes {
            switch box.type {
            case fourCC("moov"): hideTracks(of: box)
            case fourCC("meta"):
                guard let meta = AVIFGridAlpha(box, reader)?.meta else { continue }
                endLastBox(boxes, always: true)
                write("free", at: start + 4)
                file?.append(contentsOf: meta)
            default: break
            }
        }
    }

    /// Returns the start of each of several consecutive boxes.
    private func placed(_ boxes: [ISOBox], from start: Int) -> [(start: Int, box: ISOBox)] {
        var next = start
        return boxes.map { box in
            defer { next = box.content.upperBound }
            return (next, box)
        }
    }

    private mutating func write(_ type: StaticString, at offset: Int) {
        if file == nil { file = Array(bytes) }
        for index in 0..<4 { file?[offset + index] = type.utf8Start[index] }
    }

    /// Gives the last box a length if it has none.
    ///
    /// - Parameter always: also for image data, which libavif knows to extend to the end of the file.
    private mutating func endLastBox(_ boxes: [(start: Int, box: ISOBox)], always: Bool = false) {
        guard let (start, box) = boxes.last, reader.bigEndian32(start) == 0, always || box.type != fourCC("mdat"),
            bytes.count - start <= Int(UInt32.max)
        else { return }
        if file == nil { file = Array(bytes) }
        let size = bytes.count - start
        for index in 0..<4 { file?[start + index] = UInt8(truncatingIfNeeded: size >> (24 - 8 * index)) }
    }

    // MARK: Tracks

    private mutating func hideTracks(of movie: ISOBox) {
        let tracks = placed(movie.children(in: reader), from: movie.content.lowerBound)
        for (start, track) in tracks where track.type == fourCC("trak") {
            let media = track.child("mdia", in: reader)
            let handler = media?.child("hdlr", in: reader).flatMap { reader.bigEndian32($0.content.lowerBound + 8) }
            if let handler, handler != fourCC("pict"), handler != fourCC("auxv") {
                write("free", at: start + 4)
            } else if !isAlpha(media) {
                hideReferences(of: track)
            }
        }
    }

    private mutating func hideReferences(of track: ISOBox) {
        guard let references = track.child("tref", in: reader) else { return }
        let all = placed(references.children(in: reader), from: references.content.lowerBound)
        for (start, reference) in all where reference.type == fourCC("auxl") { write("free", at: start + 4) }
    }

    /// Returns whether the track's samples are an alpha; samples without a type count as alpha.
    private func isAlpha(_ media: ISOBox?) -> Bool {
        let table = media?.child("minf", in: reader)?.child("stbl", in: reader)
        guard let description = table?.child("stsd", in: reader) else { return true }
        for entry in description.children(in: reader, skipping: 8) {
            // The fields that all visual sample entries begin with have 78 bytes.
            let kinds = entry.children(in: reader, skipping: 78).filter { $0.type == fourCC("auxi") }
            if let kind = kinds.first { return AVIFGridAlpha.isAlpha(kind, reader) }
        }
        return true
    }
}
