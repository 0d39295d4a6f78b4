import WebImageCodecs

/// What the codecs' own headers say of all pictures of a file.
///
/// libheif looks at sizes in boxes, and its codecs take memory for what they are told in the pictures themselves.
struct HEIFPictures {
    let coded: [CodedPicture]
    /// The sizes that boxes tell.
    private let sizes: [(width: Int, height: Int)]
    /// Whether there are pictures that are made of others: they are there besides what they are made of.
    private let isDerived: Bool
    /// The pixels of those of which others are made.
    private let nestedPixelCount: Int
    /// Bytes of the data of the picture that has the most.
    private let dataByteCount: Int

    /// Reads the parameter sets and sequence headers, which may stand in properties and in pictures.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``; ``WebImageError/Code/limitExceeded`` for a picture that has more pixels than are
    ///   allowed, and when too many are decoded for one that is made of others.
    init(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) throws(WebImageError) {
        let reader = ByteReader(bytes)
        let pictures = try ISOPictures(reader, types: Self.coded.union(HEIFWork.derived))
        var found: Set<CodedPicture> = []
        var sizes: [(width: Int, height: Int)] = []
        for box in pictures.properties {
            let start = box.content.lowerBound
            found.formUnion(Self.pictures(in: box, reader))
            guard box.type == fourCC("ispe"), let width = reader.bigEndian32(start + 4),
                let height = reader.bigEndian32(start + 8)
            else { continue }
            sizes.append((Int(width), Int(height)))
        }
        for sample in pictures.samples where Self.coded.contains(sample.type) {
            try pictures.withBytes(of: sample) { bytes in
                let isAV1 = sample.type == fourCC("av01")
                found.formUnion(isAV1 ? AV1Sequence.pictures(in: bytes) : HEVCSize.pictures(inUnits: bytes))
            }
        }
        for picture in found { try limits.check(width: max(picture.width, 1), height: max(picture.height, 1)) }
        // Each is looked for among the sizes of the boxes.
        guard found.count <= Self.mostSizes else {
            throw WebImageError(.badImageData, "HEIF: the file has pictures of too many sizes")
        }
        (coded, self.sizes) = (Array(found), sizes)
        var work = try HEIFWork(pictures, reader)
        try work.check(limits)
        isDerived = pictures.samples.contains { HEIFWork.derived.contains($0.type) }
        nestedPixelCount = Int(min(work.nestedPixelCount, 1e12))
        dataByteCount = pictures.samples.reduce(0) { most, sample in
            max(most, sample.ranges.reduce(0) { $0 + $1.count })
        }
    }

    /// Bytes that libheif and the codec take at their peak for a picture of so many pixels, as measured with libheif 1.15 and 1.23.
    ///
    /// While it is decoded these are the planes of the codec, a copy of them, what the codec knows of blocks and its data three times; while
    /// colours are converted, the copy and the planes of RGB. Alpha is decoded when colours have been. What is made of other pictures
    /// is there as a whole while one of them is decoded.
    func byteCount(pixelCount: Int, hasAlpha: Bool, isDeep: Bool) -> Int {
        let samples = coded.map(\.samplesPerTwoPixels).max() ?? 6
        let bytes = isDeep || coded.contains { $0.bitsPerSample > 8 } ? 2 : 1
        // In quarters of a byte for each pixel.
        let decoding = (hasAlpha ? 3 : 2) * 2 * samples * bytes + 7
        // Grey becomes planes of RGB twice, and the picture may be one of several that is grey.
        let isGray = coded.contains { $0.samplesPerTwoPixels == 2 }
        let planes = max(2 * samples + (hasAlpha ? 20 : 12), isGray ? (hasAlpha ? 32 : 24) : 0)
        let converting = (planes + 1) * bytes
        let part = coded.reduce(0) { max($0, min($1.width, 1 << 24) * min($1.height, 1 << 24)) }
        let most = max(decoding, converting)
        let quarters = isDerived ? pixelCount * converting + part * most : pixelCount * most
        return quarters / 4 + 3 * dataByteCount + nestedPixelCount * (hasAlpha ? 4 : 3) * bytes
            + memory(besides: pixelCount)
    }

    /// Bytes that decoding the biggest picture takes besides: all of it if that has more pixels than are known of, its planes with
    /// grain if it has such.
    func memory(besides pixelCount: Int) -> Int {
        coded.reduce(0) { most, picture in
            // Codecs work in blocks of up to 64 by 64.
            let own = max(picture.width - 63, 0).multipliedReportingOverflow(by: max(picture.height - 63, 0))
            let isBigger = own.overflow || own.partialValue > pixelCount
            let planes = min(picture.planeByteCount, 1 << 48)
            return max(most, (isBigger ? 4 * planes : 0) + (picture.hasGrain ? planes : 0))
        }
    }

    private static let coded: Set<UInt32> = [fourCC("hvc1"), fourCC("hev1"), fourCC("av01")]
    private static let mostSizes = 1000

    /// The pictures that a property tells of.
    static func pictures(in property: ISOBox, _ reader: ByteReader) -> [CodedPicture] {
        switch property.type {
        case fourCC("hvcC"): return HEVCSize.pictures(inConfiguration: property, reader)
        case fourCC("av1C"):
            let units = reader.slice(property.content.lowerBound + 4, property.content.count - 4)
            return units.map { AV1Sequence.pictures(in: $0) } ?? []
        default: return []
        }
    }

    /// Checks what decoders take before anything is decoded: planes for the whole picture, however small its parts are, and
    /// for each part.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``; ``WebImageError/Code/badImageData`` for a picture that is bigger than any
    ///   that the boxes know, as it could not be used.
    func check(pixelCount: Int, hasAlpha: Bool, _ limits: ImageLimits) throws(WebImageError) {
        for picture in coded {
            let planes = max(picture.planeByteCount, picture.planeByteCount(pixelCount: pixelCount))
            let alpha = hasAlpha ? pixelCount * (picture.bitsPerSample > 8 ? 2 : 1) : 0
            try limits.check(decodedByteCount: min(planes, .max / 2) + alpha)
            // Codecs work in blocks of up to 64 by 64.
            let isKnown = sizes.contains { picture.width < $0.width + 64 && picture.height < $0.height + 64 }
            guard isKnown else {
                throw WebImageError(.badImageData, "HEIF: the picture has not the size that the file says")
            }
        }
    }
}
