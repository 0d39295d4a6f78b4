import WebImageCodecs

/// Converts the alpha of a grid whose tiles each have an alpha into a grid of alpha tiles, which is the form that libavif reads.
struct AVIFGridAlpha {
    /// The `meta` box with an additional item.
    let meta: [UInt8]

    private static let names: [StaticString] = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    ]

    /// Returns whether a box with the type of an auxiliary image (`auxC`, `auxi`) states alpha.
    static func isAlpha(_ box: ISOBox, _ reader: ByteReader) -> Bool {
        guard
            let text = reader.slice(box.content.lowerBound, box.content.count)?.dropFirst(4).prefix(while: { $0 != 0 })
        else { return false }
        return names.contains {
            text.elementsEqual(UnsafeBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount))
        }
    }

    /// Returns nil if the image is not of that kind.
    init?(_ box: ISOBox, _ reader: ByteReader) {
        let children = box.children(in: reader, skipping: 4)
        let items = Items(children, reader)
        let references = References(children, reader)
        guard let primary = items.primary, items.types[primary] == fourCC("grid"), let last = items.types.keys.max(),
            last < 65_535, let properties = Properties(children, reader)
        else { return nil }
        func alpha(of item: Int) -> Int? {
            references.all.first { $0.type == fourCC("auxl") && $0.to.contains(item) && properties.isAlpha($0.from) }?
                .from
        }
        let tiles = references.all.first { $0.type == fourCC("dimg") && $0.from == primary }?.to ?? []
        let alphas = tiles.compactMap(alpha)
        guard alpha(of: primary) == nil, !tiles.isEmpty, alphas.count == tiles.count,
            let size = properties.index(of: "ispe", for: primary),
            let kind = properties.index(of: "auxC", for: alphas[0]),
            let place = Self.locations(children, reader, adding: last + 1, like: primary)
        else { return nil }
        let chosen = [size, kind] + (properties.index(of: "pixi", for: alphas[0]).map { [$0] } ?? [])
        var body = Array(reader.bytes[box.content.lowerBound..<box.content.lowerBound + 4])
        for child in children {
            let content = Array(reader.bytes[child.content])
            let changed: [UInt8]
            switch child.type {
            case fourCC("iinf"): changed = items.adding(last + 1, to: content)
            case fourCC("iref"): changed = references.adding(last + 1, of: alphas, for: primary, to: content)
            case fourCC("iloc"): changed = place
            case fourCC("iprp"): changed = properties.adding(last + 1, chosen, to: content)
            default: changed = content
            }
            body += boxed(child.type, changed)
        }
        meta = boxed(fourCC("meta"), body)
    }

    /// Returns the content of `iloc` with an item that shares the bytes of another one: it describes a grid of the same shape.
    private static func locations(
        _ children: [ISOBox],
        _ reader: ByteReader,
        adding item: Int,
        like other: Int
    ) -> [UInt8]? {
        guard let box = children.first(where: { $0.type == fourCC("iloc") }),
            let version = reader.byte(box.content.lowerBound), version < 2,
            let sizes = reader.bigEndian16(box.content.lowerBound + 4),
            let count = reader.bigEndian16(box.content.lowerBound + 6), count < 65_535
        else { return nil }
        let extent = (sizes >> 12 & 15) + (sizes >> 8 & 15) + (version > 0 ? sizes & 15 : 0)
        let head = 2 + (version > 0 ? 2 : 0) + 2 + (sizes >> 4 & 15)
        var content = Array(reader.bytes[box.content])
        var offset = 8
        for _ in 0..<count {
            guard offset + head + 2 <= content.count else { return nil }
            let extents = Int(content[offset + head]) << 8 | Int(content[offset + head + 1])
            let end = offset + head + 2 + extents * extent
            guard end <= content.count else { return nil }
            if Int(content[offset]) << 8 | Int(content[offset + 1]) == other {
                let entry = content[(offset + 2)..<end]
                content.replaceSubrange(6..<8, with: bigEndian(count + 1, 2))
                return content + bigEndian(item, 2) + Array(entry)
            }
            offset = end
        }
        return nil
    }
}

extension AVIFGridAlpha {
    private struct Items {
        var primary: Int?
        var types: [Int: UInt32] = [:]
        private var isHighBitDepth = false

        init(_ children: [ISOBox], _ reader: ByteReader) {
            for box in children {
                let start = box.content.lowerBound
                let version = reader.byte(start) ?? 0
                if box.type == fourCC("pitm") {
                    primary = version == 0 ? reader.bigEndian16(start + 4) : reader.bigEndian32(start + 4).map(Int.init)
                }
                guard box.type == fourCC("iinf") else { continue }
                isHighBitDepth = version > 0
                for entry in box.children(in: reader, skipping: isHighBitDepth ? 8 : 6) {
                    let place = entry.content.lowerBound
                    guard let kind = reader.byte(place), kind == 2 || kind == 3,
                        let item = kind == 2
                            ? reader.bigEndian16(place + 4) : reader.bigEndian32(place + 4).map(Int.init),
                        let type = reader.bigEndian32(place + (kind == 2 ? 8 : 10))
                    else { continue }
                    types[item] = type
                }
            }
        }

        func adding(_ item: Int, to content: [UInt8]) -> [UInt8] {
            let size = isHighBitDepth ? 4 : 2
            guard content.count >= 4 + size else { return content }
            let count = content[4..<4 + size].reduce(0) { $0 << 8 | Int($1) }
            // A hidden item without a name.
            let entry: [UInt8] = [2, 0, 0, 1] + bigEndian(item, 2) + [0, 0] + Array("grid".utf8) + [0]
            return Array(content[..<4]) + bigEndian(count + 1, size) + Array(content[(4 + size)...])
                + boxed(fourCC("infe"), entry)
        }
    }

    private struct References {
        var all: [(type: UInt32, from: Int, to: [Int])] = []
        private var size = 2

        init(_ children: [ISOBox], _ reader: ByteReader) {
            guard let list = children.first(where: { $0.type == fourCC("iref") }) else { return }
            size = reader.byte(list.content.lowerBound) == 0 ? 2 : 4
            func item(_ offset: Int) -> Int? {
                size == 2 ? reader.bigEndian16(offset) : reader.bigEndian32(offset).map(Int.init)
            }
            for box in list.children(in: reader, skipping: 4) {
                let start = box.content.lowerBound
                guard let from = item(start), let count = reader.bigEndian16(start + size) else { continue }
                let places = (0..<min(count, box.content.count / size)).map { start + size + 2 + size * $0 }
                all.append((box.type, from, places.compactMap(item)))
            }
        }

        func adding(_ item: Int, of tiles: [Int], for primary: Int, to content: [UInt8]) -> [UInt8] {
            func reference(_ type: StaticString, _ to: [Int]) -> [UInt8] {
                boxed(fourCC(type), bigEndian(item, size) + bigEndian(to.count, 2) + to.flatMap { bigEndian($0, size) })
            }
            return content + reference("dimg", tiles) + reference("auxl", [primary])
        }
    }

    private struct Properties {
        private let reader: ByteReader
        private let boxes: [ISOBox]
        private var indices: [Int: [Int]] = [:]
        private let isHighBitDepth: Bool
        private let itemSize: Int
        private let count: Int

        init?(_ children: [ISOBox], _ reader: ByteReader) {
            guard let all = children.first(where: { $0.type == fourCC("iprp") }),
                let container = all.child("ipco", in: reader), let list = all.child("ipma", in: reader),
                let flags = reader.bigEndian32(list.content.lowerBound),
                let count = reader.bigEndian32(list.content.lowerBound + 4)
            else { return nil }
            self.reader = reader
            boxes = container.children(in: reader)
            isHighBitDepth = flags & 1 != 0
            itemSize = flags >> 24 == 0 ? 2 : 4
            self.count = Int(count)
            var offset = list.content.lowerBound + 8
            for _ in 0..<min(self.count, list.content.count / 3) {
                guard let item = itemSize == 2 ? reader.bigEndian16(offset) : reader.bigEndian32(offset).map(Int.init),
                    let length = reader.byte(offset + itemSize)
                else { return nil }
                offset += itemSize + 1
                for _ in 0..<length {
                    let index =
                        isHighBitDepth
                        ? reader.bigEndian16(offset).map { $0 & 0x7FFF } : reader.byte(offset).map { Int($0 & 0x7F) }
                    guard let index else { return nil }
                    indices[item, default: []].append(index)
                    offset += isHighBitDepth ? 2 : 1
                }
            }
        }

        /// Counted from 1, as in the file.
        func index(of type: StaticString, for item: Int) -> Int? {
            indices[item]?.first { (1...boxes.count).contains($0) && boxes[$0 - 1].type == fourCC(type) }
        }

        func isAlpha(_ item: Int) -> Bool {
            index(of: "auxC", for: item).map { AVIFGridAlpha.isAlpha(boxes[$0 - 1], reader) } ?? false
        }

        /// Returns the content of `iprp` with an item's properties added.
        func adding(_ item: Int, _ chosen: [Int], to content: [UInt8]) -> [UInt8] {
            content.withUnsafeBytes { bytes in
                let reader = ByteReader(bytes)
                return ISOBox.boxes(in: reader, 0..<content.count).flatMap { box -> [UInt8] in
                    let old = Array(content[box.content])
                    guard box.type == fourCC("ipma"), old.count >= 8 else { return boxed(box.type, old) }
                    let entry =
                        bigEndian(item, itemSize) + [UInt8(chosen.count)]
                        + chosen.flatMap { bigEndian($0, isHighBitDepth ? 2 : 1) }
                    return boxed(box.type, Array(old[..<4]) + bigEndian(count + 1, 4) + Array(old[8...]) + entry)
                }
            }
        }
    }
}

private func boxed(_ type: UInt32, _ content: [UInt8]) -> [UInt8] {
    bigEndian(content.count + 8, 4) + bigEndian(Int(type), 4) + content
}

private func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
}
