import WebImageCodecs

/// The sizes in the bitstream headers of all images of a file.
///
/// libheif checks sizes in boxes, but its codecs allocate memory by the sizes in the bitstreams.
struct HEIFImages {
    let coded: [BitstreamHeader]
    /// The sizes in the boxes.
    private let sizes: [(width: Int, height: Int)]
    /// A Boolean value that indicates whether the file has derived images, which are held in memory in addition to their sources.
    let isDerived: Bool
    /// A Boolean value that indicates whether no image of the file is coded in AV1.
    let isHEVC: Bool
    /// The number of pixels of derived images that are sources of others.
    private let nestedPixelCount: Int
    /// The largest number of bytes of an image's data.
    private let dataByteCount: Int

    /// Reads the parameter sets and sequence headers, which may be in properties and in image data.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``; ``WebImageError/Code/limitExceeded`` for an image with more pixels than the limits allow, and
    ///   for a derived image whose sources have too many.
    init(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) throws(WebImageError) {
        let reader = ByteReader(bytes)
        let images = try ISOImages(reader, types: Self.coded.union(HEIFWork.derived))
        var found: Set<BitstreamHeader> = []
        var sizes: [(width: Int, height: Int)] = []
        for box in images.properties {
            let start = box.content.lowerBound
            found.formUnion(Self.headers(in: box, reader))
            guard box.type == fourCC("ispe"), let width = reader.bigEndian32(start + 4),
                let height = reader.bigEndian32(start + 8)
            else { continue }
            sizes.append((Int(width), Int(height)))
        }
        for sample in images.samples where Self.coded.contains(sample.type) {
            try images.withBytes(of: sample) { bytes in
                let isAV1 = sample.type == fourCC("av01")
                found.formUnion(isAV1 ? AV1Sequence.headers(in: bytes) : HEVCSize.headers(inUnits: bytes))
            }
        }
        for header in found { try limits.check(width: max(header.width, 1), height: max(header.height, 1)) }
        // Limits the work of `check`, which searches for each header among the sizes in the boxes.
        guard found.count <= Self.mostSizes else {
            throw WebImageError(.badImageData, "HEIF: the file has images of too many sizes")
        }
        (coded, self.sizes) = (Array(found), sizes)
        var work = try HEIFWork(images, reader)
        try work.check(limits)
        isDerived = images.samples.contains { HEIFWork.derived.contains($0.type) }
        isHEVC = !images.samples.contains { $0.type == fourCC("av01") }
        nestedPixelCount = Int(min(work.nestedPixelCount, 1e12))
        dataByteCount = images.samples.reduce(0) { most, sample in
            max(most, sample.ranges.reduce(0) { $0 + $1.count })
        }
    }

    /// Returns the peak number of bytes that libheif and the codec need for an image of so many pixels, as measured with libheif 1.15 and 1.23.
    ///
    /// During decoding these are the codec's planes, a copy of them, the codec's block data and three times the image's data; during colour
    /// conversion, the copy and the RGB planes. Alpha is decoded after the colours. A derived image is held as a whole while each of its sources is
    /// decoded.
    func byteCount(pixelCount: Int, hasAlpha: Bool, isDeep: Bool) -> Int {
        let cost = quarters(hasAlpha: hasAlpha, isDeep: isDeep)
        let image = pixelCount * (isDerived ? cost.converting : max(cost.decoding, cost.converting)) / 4
        let parts = isDerived ? tileByteCount(hasAlpha: hasAlpha, isDeep: isDeep) : 3 * dataByteCount
        let nested = nestedPixelCount * (hasAlpha ? 4 : 3) * (cost.isDeep ? 2 : 1)
        return image + parts + nested + memory(besides: pixelCount)
    }

    /// Returns the number of bytes for the largest source of a derived image, which each thread needs.
    func tileByteCount(hasAlpha: Bool, isDeep: Bool) -> Int {
        let cost = quarters(hasAlpha: hasAlpha, isDeep: isDeep)
        let pixels = coded.reduce(0) { max($0, min($1.width, 1 << 24) * min($1.height, 1 << 24)) }
        return pixels * max(cost.decoding, cost.converting) / 4 + 3 * dataByteCount
    }

    /// Returns how much memory each pixel needs during decoding and during conversion, in quarters of a byte.
    private func quarters(hasAlpha: Bool, isDeep: Bool) -> (decoding: Int, converting: Int, isDeep: Bool) {
        let samples = coded.map(\.samplesPerTwoPixels).max() ?? 6
        let isDeep = isDeep || coded.contains { $0.bitsPerSample > 8 }
        let bytes = isDeep ? 2 : 1
        // Grey is converted to RGB planes twice. The maximum of both costs, because only some of several images may be grey.
        let isGray = coded.contains { $0.samplesPerTwoPixels == 2 }
        let planes = max(2 * samples + (hasAlpha ? 20 : 12), isGray ? (hasAlpha ? 32 : 24) : 0)
        return ((hasAlpha ? 3 : 2) * 2 * samples * bytes + 7, (planes + 1) * bytes, isDeep)
    }

    /// Returns the additional number of bytes for decoding the largest image: its planes if it has more pixels than stated, and those for film grain
    /// if it has any.
    func memory(besides pixelCount: Int) -> Int {
        coded.reduce(0) { most, header in
            // Codecs work in blocks of up to 64 by 64.
            let own = max(header.width - 63, 0).multipliedReportingOverflow(by: max(header.height - 63, 0))
            let isBigger = own.overflow || own.partialValue > pixelCount
            let planes = min(header.planeByteCount, 1 << 48)
            return max(most, (isBigger ? 4 * planes : 0) + (header.hasGrain ? planes : 0))
        }
    }

    private static let coded: Set<UInt32> = [fourCC("hvc1"), fourCC("hev1"), fourCC("av01")]
    private static let mostSizes = 1000

    /// Returns the bitstream headers in a property; none for other types.
    static func headers(in property: ISOBox, _ reader: ByteReader) -> [BitstreamHeader] {
        switch property.type {
        case fourCC("hvcC"): return HEVCSize.headers(inConfiguration: property, reader)
        case fourCC("av1C"):
            let units = reader.slice(property.content.lowerBound + 4, property.content.count - 4)
            return units.map { AV1Sequence.headers(in: $0) } ?? []
        default: return []
        }
    }

    /// Checks the decoders' memory before decoding: planes for the whole image, even if its parts are smaller, and for each part.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``; ``WebImageError/Code/badImageData`` for an image that is larger than any in the boxes, as it
    ///   would be unusable.
    func check(pixelCount: Int, hasAlpha: Bool, _ limits: ImageLimits) throws(WebImageError) {
        for header in coded {
            let planes = max(header.planeByteCount, header.planeByteCount(pixelCount: pixelCount))
            let alpha = hasAlpha ? pixelCount * (header.bitsPerSample > 8 ? 2 : 1) : 0
            try limits.check(decodedByteCount: min(planes, .max / 2) + alpha)
            // Codecs work in blocks of up to 64 by 64.
            let isKnown = sizes.contains { header.width < $0.width + 64 && header.height < $0.height + 64 }
            guard isKnown else {
                throw WebImageError(.badImageData, "HEIF: the image's size differs from the size in the boxes")
            }
        }
    }
}
