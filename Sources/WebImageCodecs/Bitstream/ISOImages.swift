/// The locations of the coded images in an ISO base media file (HEIF, AVIF): those of items and of tracks, whether or not they are displayed.
package struct ISOImages {
    /// An image of an item, or a frame of a track.
    package struct Sample: Hashable {
        /// The type of the item, or of the track's samples.
        package let type: UInt32
        /// The consecutive parts of the file that hold the data.
        package let ranges: [Range<Int>]
    }

    package private(set) var samples: [Sample] = []
    /// The samples of each item.
    package private(set) var items: [Int: Set<Sample>] = [:]
    /// The types of the items that are such images, as every reader sees them: from the first list, without items that it contains twice. Empty for a
    /// file with several `meta` boxes.
    package private(set) var itemTypes: [Int: UInt32] = [:]
    /// The properties of all items.
    package private(set) var properties: [ISOBox] = []
    private let bytes: ByteReader
    private let types: Set<UInt32>
    private var seen: Set<Sample> = []
    private var byteCount = 0

    /// - Parameter types: the types of the images to find.
    /// - Throws: ``WebImageError/Code/badImageData`` if images overlap or there are too many boxes, so that checking them would take
    ///   disproportionately long.
    package init(_ bytes: ByteReader, types: Set<UInt32>) throws(WebImageError) {
        self.bytes = bytes
        self.types = types
        let all = try boxes(in: 0..<bytes.count)
        for box in all {
            if box.type == fourCC("meta") { try readItems(box) }
            if box.type == fourCC("moov") { try readTracks(box) }
        }
        if all.count(where: { $0.type == fourCC("meta") }) > 1 { itemTypes = [:] }
    }

    /// Calls `body` with the bytes of a sample; they are copied if they lie in several parts.
    package func withBytes(of sample: Sample, _ body: (UnsafeRawBufferPointer) throws(WebImageError) -> Void)
        throws(WebImageError)
    {
        if sample.ranges.count == 1 { return try body(UnsafeRawBufferPointer(rebasing: bytes.bytes[sample.ranges[0]])) }
        let copy = sample.ranges.flatMap { bytes.bytes[$0] }
        try copy.withBytes(body)
    }

    private func boxes(in part: Range<Int>) throws(WebImageError) -> [ISOBox] {
        let boxes = ISOBox.boxes(in: bytes, part)
        guard boxes.count < ISOBox.mostBoxes else { throw WebImageError(.badImageData, "the file has too many boxes") }
        return boxes
    }

    private func boxes(in box: ISOBox, skipping skipped: Int = 0) throws(WebImageError) -> [ISOBox] {
        guard skipped <= box.content.count else { return [] }
        return try boxes(in: box.content.lowerBound + skipped..<box.content.upperBound)
    }

    /// - Parameter item: nil for a frame of a track.
    private mutating func add(_ type: UInt32, _ ranges: [Range<Int>], item: Int? = nil) throws(WebImageError) {
        let sample = Sample(type: type, ranges: ranges.filter { !$0.isEmpty })
        guard !sample.ranges.isEmpty else { return }
        if let item { items[item, default: []].insert(sample) }
        guard seen.insert(sample).inserted else { return }
        byteCount += sample.ranges.reduce(0) { $0 + $1.count }
        guard byteCount <= 2 * bytes.count else {
            throw WebImageError(.badImageData, "the file's images overlap")
        }
        samples.append(sample)
    }

    /// Returns the range of a part, clamped to the file.
    private func range(_ offset: Int, _ length: Int, within whole: Range<Int>) -> Range<Int> {
        let start = min(max(offset, whole.lowerBound), whole.upperBound)
        return start..<start + min(max(length, 0), whole.upperBound - start)
    }
}

extension ISOImages {
    private mutating func readItems(_ meta: ISOBox) throws(WebImageError) {
        let children = try boxes(in: meta, skipping: 4)
        var found: [Int: Set<UInt32>] = [:]
        let lists = children.filter { $0.type == fourCC("iinf") }
        for (index, box) in lists.enumerated() {
            var counts: [Int: Int] = [:]
            let isHighBitDepth = (bytes.byte(box.content.lowerBound) ?? 0) > 0
            for entry in try boxes(in: box, skipping: isHighBitDepth ? 8 : 6) where entry.type == fourCC("infe") {
                let start = entry.content.lowerBound
                guard let version = bytes.byte(start) else { continue }
                let number = version <= 2 ? bytes.bigEndian16(start + 4) : bytes.bigEndian32(start + 4).map(Int.init)
                guard let number else { continue }
                counts[number, default: 0] += 1
                guard version >= 2, let type = bytes.bigEndian32(start + (version == 2 ? 8 : 10)), types.contains(type)
                else { continue }
                found[number, default: []].insert(type)
                if index == 0 { itemTypes[number] = type }
            }
            if index == 0 { itemTypes = itemTypes.filter { counts[$0.key] == 1 } }
        }
        let data = children.first { $0.type == fourCC("idat") }?.content ?? 0..<0
        for box in children {
            if box.type == fourCC("iloc") { try readLocations(box, found, data) }
            guard box.type == fourCC("iprp") else { continue }
            for container in try boxes(in: box) where container.type == fourCC("ipco") {
                properties += try boxes(in: container)
            }
        }
    }

    private mutating func readLocations(
        _ box: ISOBox,
        _ found: [Int: Set<UInt32>],
        _ data: Range<Int>
    ) throws(WebImageError) {
        var cursor = Cursor(bytes: bytes, offset: box.content.lowerBound)
        guard let version = cursor.number(1), version <= 2, cursor.number(3) != nil, let sizes = cursor.number(2),
            let count = cursor.number(version < 2 ? 2 : 4)
        else { return }
        let (offsetSize, lengthSize) = (sizes >> 12 & 15, sizes >> 8 & 15)
        let (baseSize, indexSize) = (sizes >> 4 & 15, version > 0 ? sizes & 15 : 0)
        // Libraries interpret other sizes, and indices, differently. No supported image uses indices.
        guard indexSize == 0, [offsetSize, lengthSize, baseSize].allSatisfy({ [0, 4, 8].contains($0) }) else {
            throw WebImageError(.badImageData, "the file's image locations have an unsupported number size")
        }
        for _ in 0..<count {
            guard lengthSize > 0, let item = cursor.number(version < 2 ? 2 : 4),
                let method = version > 0 ? cursor.number(2) : 0,
                cursor.number(2) != nil, let base = cursor.number(baseSize), let extents = cursor.number(2)
            else { return }
            var ranges: [Range<Int>] = []
            for _ in 0..<extents {
                guard let offset = cursor.number(offsetSize), let length = cursor.number(lengthSize)
                else { return }
                let isInBox = method & 15 == 1
                let whole = isInBox ? data : 0..<bytes.count
                let (start, overflow) = (whole.lowerBound + offset).addingReportingOverflow(base)
                if method & 15 < 2, !overflow { ranges.append(range(start, length, within: whole)) }
            }
            for type in found[item] ?? [] { try add(type, ranges, item: item) }
        }
    }

    /// Reads consecutive numbers.
    private struct Cursor {
        let bytes: ByteReader
        var offset: Int

        /// Reads a number of `size` bytes, at most 8. Values beyond any file size are clamped. Returns nil at the end.
        mutating func number(_ size: Int) -> Int? {
            guard let slice = bytes.slice(offset, size), size <= 8 else { return nil }
            offset += size
            let value = slice.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(clamping: min(value, 1 << 60))
        }
    }
}

extension ISOImages {
    private mutating func readTracks(_ movie: ISOBox) throws(WebImageError) {
        for track in try boxes(in: movie) where track.type == fourCC("trak") {
            var tables = [track]
            for name: StaticString in ["mdia", "minf", "stbl"] {
                var next: [ISOBox] = []
                for box in tables { next += try boxes(in: box).filter { $0.type == fourCC(name) } }
                tables = next
            }
            for table in tables { try readSamples(try boxes(in: table)) }
        }
    }

    private mutating func readSamples(_ boxes: [ISOBox]) throws(WebImageError) {
        var found: Set<UInt32> = []
        for box in boxes where box.type == fourCC("stsd") {
            for entry in try self.boxes(in: box, skipping: 8) where types.contains(entry.type) {
                found.insert(entry.type)
            }
        }
        guard !found.isEmpty else { return }
        var sizes = SampleSizes(bytes, boxes)
        let runs = entries(boxes, "stsc", size: 12)
        var run = 0
        let offsets =
            entries(boxes, "stco", size: 4).map { bytes.bigEndian32($0).map(Int.init) }
            + entries(boxes, "co64", size: 8).map { offset in
                bytes.bigEndian32(offset) == 0 ? bytes.bigEndian32(offset + 4).map(Int.init) : nil
            }
        for (chunk, place) in offsets.enumerated() {
            while run + 1 < runs.count, Int(bytes.bigEndian32(runs[run + 1]) ?? 0) <= chunk + 1 { run += 1 }
            guard run < runs.count, var offset = place, let count = bytes.bigEndian32(runs[run] + 4) else { continue }
            for _ in 0..<count {
                guard let size = sizes.next(), offset <= bytes.count else { break }
                for type in found { try add(type, [range(offset, size, within: 0..<bytes.count)]) }
                offset += size
            }
        }
    }

    /// Returns the offsets of the entries of a table that starts with their number.
    private func entries(_ boxes: [ISOBox], _ type: StaticString, size: Int) -> [Int] {
        let wanted = fourCC(type)
        return boxes.filter { $0.type == wanted }.flatMap { box -> [Int] in
            let start = box.content.lowerBound + 8
            guard let count = bytes.bigEndian32(start - 4), start <= box.content.upperBound else { return [] }
            return (0..<min(Int(count), (box.content.upperBound - start) / size)).map { start + $0 * size }
        }
    }

    /// The size of each sample.
    private struct SampleSizes {
        private var same = 0
        private var left = 0
        private var table: [Int] = []
        private var index = 0
        private let bytes: ByteReader

        init(_ bytes: ByteReader, _ boxes: [ISOBox]) {
            self.bytes = bytes
            for box in boxes where box.type == fourCC("stsz") {
                let start = box.content.lowerBound
                guard let size = bytes.bigEndian32(start + 4), let count = bytes.bigEndian32(start + 8) else {
                    continue
                }
                (same, left) = (Int(size), min(Int(count), bytes.count))
                guard size == 0 else { continue }
                let room = max(box.content.upperBound - start - 12, 0) / 4
                table += (0..<min(Int(count), room)).map { start + 12 + 4 * $0 }
            }
        }

        mutating func next() -> Int? {
            if same > 0 {
                left -= 1
                return left >= 0 ? same : nil
            }
            guard index < table.count else { return nil }
            index += 1
            return bytes.bigEndian32(table[index - 1]).map(Int.init)
        }
    }
}

extension [UInt8] {
    /// Wraps `withUnsafeBytes` with typed throws.
    fileprivate func withBytes(
        _ body: (UnsafeRawBufferPointer) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        let result = withUnsafeBytes { bytes -> Result<Void, WebImageError> in
            do throws(WebImageError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }
}
