import WebImageCodecs

/// Computes how many pixels are decoded for the images of a file, some of which are derived from others: a grid may name one tile thousands of times,
/// or itself.
struct HEIFWork {
    /// The pixels that are decoded for an item, and the depth of libheif's recursion.
    private struct Cost {
        var pixels: Double
        var depth = 1
    }

    private enum State {
        case begun
        case known(Cost)
    }

    private static let deepest = 16
    /// The types of derived images.
    static let derived: Set<UInt32> = [fourCC("grid"), fourCC("iovl"), fourCC("iden")]

    /// The sources of each item, including its alpha.
    private var parts: [Int: [Int]] = [:]
    /// The sources of each item, without alpha.
    private var sources: [Int: [Int]] = [:]
    private let types: [Int: UInt32]
    /// The pixels of each item, without those of its sources.
    private var own: [Int: Double] = [:]
    private var states: [Int: State] = [:]

    /// - Parameter images: the images, including those of ``derived`` types.
    /// - Throws: ``WebImageError/Code/badImageData``.
    init(_ images: ISOImages, _ reader: ByteReader) throws(WebImageError) {
        types = images.itemTypes
        let properties = images.properties.map { Self.pixels(of: HEIFImages.headers(in: $0, reader)) }
        // Items may share data, which is read once.
        var pixels: [ISOImages.Sample: Double] = [:]
        for sample in images.samples {
            try images.withBytes(of: sample) { pixels[sample] = Self.pixels(of: sample.type, $0) }
        }
        for (item, samples) in images.items { own[item] = samples.reduce(0) { max($0, pixels[$1] ?? 0) } }
        for meta in ISOBox.boxes(in: reader, 0..<reader.count) where meta.type == fourCC("meta") {
            for box in meta.children(in: reader, skipping: 4) {
                if box.type == fourCC("iref") { try readReferences(box, reader) }
                guard box.type == fourCC("iprp") else { continue }
                for list in box.children(in: reader) where list.type == fourCC("ipma") {
                    readAssociations(list, reader, properties)
                }
            }
        }
    }

    /// - Throws: ``WebImageError/Code/limitExceeded``; ``WebImageError/Code/badImageData`` for images that are derived from themselves, or from items
    ///   that are not images.
    mutating func check(_ limits: ImageLimits) throws(WebImageError) {
        // libheif assumes that each source is an image, and ends the process otherwise.
        for (item, sources) in sources where types[item].map(Self.derived.contains) ?? true {
            guard sources.allSatisfy({ types[$0] != nil }) else {
                throw WebImageError(.badImageData, "HEIF: an image is derived from an item that is not an image")
            }
        }
        // A grid without superfluous tiles has less than four times its visible pixels.
        let (product, overflow) = max(limits.maximumPixelCount, 0).multipliedReportingOverflow(by: 4)
        let most = overflow ? Int.max : product
        for item in Set(parts.keys).union(own.keys) {
            let pixels = try cost(of: item, depth: 0).pixels
            guard pixels <= Double(most) else {
                throw .limitExceeded("HEIF pixels to decode", allowed: most, required: Int(min(pixels, 1e18)))
            }
        }
    }

    /// The pixels of grids and overlays that are sources or alpha of other images: libheif holds them in addition to those.
    var nestedPixelCount: Double {
        let nested = Set(parts.values.joined()).filter { types[$0].map(Self.derived.contains) ?? true }
        return nested.reduce(0) { $0 + (own[$1] ?? 0) }
    }

    private mutating func cost(of item: Int, depth: Int) throws(WebImageError) -> Cost {
        var cost = Cost(pixels: own[item] ?? 0)
        switch states[item] {
        case .begun: throw WebImageError(.badImageData, "HEIF: an image is derived from itself")
        case .known(let known): cost = known
        case nil:
            guard depth < Self.deepest else { break }
            states[item] = .begun
            for part in parts[item] ?? [] {
                let other = try self.cost(of: part, depth: depth + 1)
                cost.pixels += other.pixels
                cost.depth = max(cost.depth, other.depth + 1)
            }
            states[item] = .known(cost)
        }
        guard depth + cost.depth <= Self.deepest else {
            throw WebImageError(.badImageData, "HEIF: derived images are nested too deeply")
        }
        return cost
    }

    private static func pixels(of headers: [BitstreamHeader]) -> Double {
        headers.reduce(0) { max($0, Double($1.width) * Double($1.height)) }
    }

    /// Returns the pixels of the canvas for derived images, which state their size; for coded ones, those of all coded images in the data.
    private static func pixels(of type: UInt32, _ bytes: UnsafeRawBufferPointer) -> Double {
        switch type {
        case fourCC("grid"): canvas(bytes, after: 4)
        case fourCC("iovl"): canvas(bytes, after: 10)
        case fourCC("iden"): 0
        case fourCC("av01"): pixels(of: AV1Sequence.headers(in: bytes))
        default: pixels(of: HEVCSize.headers(inUnits: bytes)) * Double(max(HEVCSize.imageCount(inUnits: bytes), 1))
        }
    }

    private static func canvas(_ bytes: UnsafeRawBufferPointer, after offset: Int) -> Double {
        let reader = ByteReader(bytes)
        guard let flags = reader.byte(1) else { return 0 }
        let isHighBitDepth = flags & 1 != 0
        func number(_ offset: Int) -> Double {
            (isHighBitDepth ? reader.bigEndian32(offset).map(Double.init) : reader.bigEndian16(offset).map(Double.init))
                ?? 0
        }
        return number(offset) * number(offset + (isHighBitDepth ? 4 : 2))
    }

    private mutating func readReferences(_ box: ISOBox, _ reader: ByteReader) throws(WebImageError) {
        let isHighBitDepth = (reader.byte(box.content.lowerBound) ?? 0) > 0
        let size = isHighBitDepth ? 4 : 2
        func number(_ offset: Int) -> Int? {
            isHighBitDepth ? reader.bigEndian32(offset).map(Int.init) : reader.bigEndian16(offset)
        }
        let references = box.children(in: reader, skipping: 4)
        guard references.count < ISOBox.mostBoxes else {
            throw WebImageError(.badImageData, "the file has too many boxes")
        }
        for reference in references {
            let start = reference.content.lowerBound
            guard let item = number(start), let count = reader.bigEndian16(start + size) else { continue }
            for index in 0..<count {
                let offset = start + size + 2 + index * size
                guard offset + size <= reference.content.upperBound, let other = number(offset) else { break }
                if reference.type == fourCC("dimg") {
                    parts[item, default: []].append(other)
                    sources[item, default: []].append(other)
                }
                // The alpha's reference names its image.
                if reference.type == fourCC("auxl") { parts[other, default: []].append(item) }
            }
        }
    }

    /// Reads parameter sets that are in properties.
    private mutating func readAssociations(_ box: ISOBox, _ reader: ByteReader, _ properties: [Double]) {
        var offset = box.content.lowerBound + 8
        guard let version = reader.byte(box.content.lowerBound), let flags = reader.byte(box.content.lowerBound + 3),
            let count = reader.bigEndian32(offset - 4)
        else { return }
        for _ in 0..<count {
            let item = version == 0 ? reader.bigEndian16(offset) : reader.bigEndian32(offset).map(Int.init)
            offset += version == 0 ? 2 : 4
            guard let item, let number = reader.byte(offset) else { return }
            offset += 1
            for _ in 0..<number {
                let index = flags & 1 != 0 ? reader.bigEndian16(offset) : reader.byte(offset).map(Int.init)
                guard let index else { return }
                offset += flags & 1 != 0 ? 2 : 1
                let property = (index & (flags & 1 != 0 ? 0x7FFF : 0x7F)) - 1
                if properties.indices.contains(property) { own[item] = max(own[item] ?? 0, properties[property]) }
            }
        }
    }
}
