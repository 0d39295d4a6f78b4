import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageAVIF
@testable import WebImageCodecs
@testable import WebImageHEIF

/// The sizes in codecs' own headers are checked against the limits, wherever those headers are.
@Suite(.tags(.addressSanitizer)) struct CodedSizeTests {
    private static let liars = ["inside-16x16.heic", "av1-16x16.heic", "av1-16x16.avif"]
    private let manager = ImageCodersManager(coders: [AVIFCoder(), HEIFCoder()])

    private func error(_ file: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> WebImageError?
    {
        var options = ImageDecodeOptions()
        change(&options)
        let data = try Fixtures.data("CodedSizes/\(file)")
        do throws(WebImageError) {
            _ = try manager.decode(data, options: options)
            return nil
        } catch { return error }
    }

    private func coded(_ file: String) throws -> Set<BitstreamHeader> {
        try Fixtures.data(file).withBytes { (bytes) throws(WebImageError) in
            Set(try HEIFImages(bytes, ImageLimits()).coded)
        }
    }

    @Test(arguments: liars)
    func `An image bigger than its boxes claim is checked against every limit`(file: String) throws {
        #expect(try error(file) { $0.limits.maximumPixelCount = 320 * 240 - 1 }?.limit?.name == "maximumPixelCount")
        #expect(try error(file) { $0.limits.maximumSideLength = 319 }?.limit?.name == "maximumSideLength")
        // Planes of 4:2:0, and not those of the resulting image; in AVIF also dav1d's block data.
        let bytes = 320 * 240 * 3 / 2 + (file.hasSuffix("avif") ? 320 * 240 * 3 / 4 : 0)
        let refused = try error(file) { $0.limits.maximumDecodedByteCount = bytes - 1 }
        #expect(refused?.limit?.name == "maximumDecodedByteCount" && refused?.limit?.required == Int64(bytes))
        var limits = ImageLimits()
        limits.maximumPixelCount = 1000
        let data = try Fixtures.data("CodedSizes/\(file)")
        #expect(throws: WebImageError.self) { try manager.properties(of: data, limits: limits) }
    }

    @Test func `Such a HEIC is refused, such an AVIF is scaled to its claimed size`() throws {
        #expect(try error("inside-16x16.heic")?.code == .badImageData)
        #expect(try error("av1-16x16.heic")?.code == .badImageData)
        #expect(try error("av1-16x16.avif") { $0.limits.maximumDecodedByteCount = 320 * 240 * 9 / 4 } == nil)
    }

    @Test(arguments: ["inside-320x240.heic", "av1-320x240.heic"])
    func `Codec headers may be inside the image data`(file: String) throws {
        let image = try manager.decode(Fixtures.data("CodedSizes/\(file)"), options: ImageDecodeOptions())
        #expect([image.pixelWidth, image.pixelHeight] == [320, 240])
        #expect(try coded("CodedSizes/\(file)").map { [$0.width, $0.height] } == [[320, 240]])
        for channel in 0..<3 { #expect(abs(Int(image.bitmap.premultipliedRGBA(x: 160, y: 120)[channel]) - 90) <= 2) }
    }

    @Test(arguments: [
        ("420", 3, 8), ("422", 4, 8), ("444", 6, 8), ("400", 2, 8), ("10bit-420", 3, 10), ("12bit-422-limited", 4, 12),
        ("lossless", 6, 8), ("display-p3", 6, 8), ("grid", 3, 8), ("sequence", 6, 8), ("alpha", 3, 8),
    ])
    func `AV1 headers report the size and the cost of planes`(name: String, samples: Int, bits: Int) throws {
        let data = try Fixtures.data("AVIF/\(name).avif")
        let properties = try AVIFCoder().properties(of: data, limits: ImageLimits())
        var found: Set<BitstreamHeader> = []
        try data.withBytes { (bytes) throws(WebImageError) in
            let pictures = try ISOImages(ByteReader(bytes), types: [fourCC("av01")])
            for sample in pictures.samples {
                try pictures.withBytes(of: sample) { found.formUnion(AV1Sequence.headers(in: $0)) }
            }
        }
        #expect(!found.isEmpty && found.allSatisfy { $0.bitsPerSample == bits })
        let colors = try #require(found.max { $0.samplesPerTwoPixels < $1.samplesPerTwoPixels })
        #expect(name == "sequence" || colors.samplesPerTwoPixels == samples)
        if name != "grid" { #expect([colors.width, colors.height] == [properties.width, properties.height]) }
    }

    @Test(arguments: [("420", 3, 8), ("422", 4, 8), ("444", 6, 8), ("gray", 2, 8), ("10bit", 3, 10), ("alpha", 3, 8)])
    func `HEVC headers report the size and the cost of planes`(name: String, samples: Int, bits: Int) throws {
        let found = try coded("HEIF/\(name).heic")
        let colors = try #require(found.max { $0.samplesPerTwoPixels < $1.samplesPerTwoPixels })
        #expect(colors.samplesPerTwoPixels == samples && colors.bitsPerSample == bits)
        #expect(colors.width >= 40 && colors.width < 40 + 64 && colors.height >= 32 && colors.height < 32 + 64)
    }

    @Test func `Film grain needs additional planes, and blocks beyond the image count as well`() throws {
        let grain = try Fixtures.data("AVIF/grain.avif")
        let found = try grain.withBytes { (bytes) throws(WebImageError) in
            let pictures = try ISOImages(ByteReader(bytes), types: [fourCC("av01")])
            var found: Set<BitstreamHeader> = []
            for sample in pictures.samples {
                try pictures.withBytes(of: sample) { found.formUnion(AV1Sequence.headers(in: $0)) }
            }
            return found
        }
        #expect(!found.isEmpty && found.allSatisfy(\.hasGrain))
        #expect(try coded("CodedSizes/av1-320x240.heic").allSatisfy { !$0.hasGrain })
        let inside = try Fixtures.data("CodedSizes/inside-16x16.heic")
        let pictures = try inside.withBytes { (bytes) throws(WebImageError) in try HEIFImages(bytes, ImageLimits()) }
        #expect(pictures.memory(besides: 16 * 16) >= 320 * 240 * 3)
        #expect(pictures.memory(besides: 320 * 240) == 0)
    }

    @Test(arguments: [31, 32])
    func `AV1's size is parsed after an interval of any length`(zeros: Int) {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        // Profile, still, reduced, timing information with equal intervals.
        for (value, count) in [(0, 3), (0, 1), (0, 1), (1, 1), (1, 32), (1, 32), (1, 1)] { append(value, count) }
        append(0, zeros)
        // 32 zeros stand for themselves, fewer are followed by a one and by as many bits.
        if zeros < 32 { append(1 << zeros, zeros + 1) }
        // No model, no delays, one operating point; 16 bits for each side.
        for (value, count) in [(0, 1), (0, 1), (0, 5), (0, 12), (0, 5), (15, 4), (15, 4), (4999, 16), (2999, 16)] {
            append(value, count)
        }
        append(0, 64)
        let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 << 1 | (bits[start + $1] ? 1 : 0) }
        }
        let header = bytes.withUnsafeBytes { AV1Sequence.sequenceHeader($0) }
        #expect(header.map { [$0.width, $0.height] } == [5000, 3000])
    }

    @Test(arguments: liars + ["inside-320x240.heic", "av1-320x240.heic"])
    func `Damaged codec headers never trap`(file: String) throws {
        let data = try Fixtures.data("CodedSizes/\(file)")
        for damaged in DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data, count: 100) {
            #expect(DamagedFiles.complaint(of: manager, about: damaged) == nil)
        }
    }

    @Test func `Overlapping images are refused quickly`() throws {
        // Places of a thousand items, all of them the whole file.
        func box(_ type: String, _ body: [UInt8]) -> [UInt8] { number(body.count + 8, 4) + Array(type.utf8) + body }
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var places = number(0, 4) + [0x44, 0] + number(1000, 2)
        var entries = number(0, 4) + number(1000, 2)
        for item in 0..<1000 {
            places += number(item, 2) + number(0, 2) + number(1, 2) + number(item, 4) + number(1 << 20, 4)
            entries += box("infe", [2, 0, 0, 0] + number(item, 2) + number(0, 2) + Array("av01".utf8) + [0])
        }
        let meta = box("meta", number(0, 4) + box("iinf", entries) + box("iloc", places))
        let data = Data(box("ftyp", Array("avif".utf8) + number(0, 4) + Array("avif".utf8)) + meta)
        #expect(throws: WebImageError.self) { try AVIFCoder().properties(of: data, limits: ImageLimits()) }
        let refused = #expect(throws: WebImageError.self) {
            try data.withBytes { (bytes) throws(WebImageError) in
                _ = try ISOImages(ByteReader(bytes), types: [fourCC("av01")])
            }
        }
        #expect(refused?.message.contains("overlap") == true)
    }
}
