import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Particularities of incremental WebP: frames in frames, alpha in separate chunks, decoders that go back.
@Suite(.tags(.addressSanitizer)) struct ProgressiveWebPTests {
    private let coder = WebPCoder()

    /// An image of many bytes: a wide gradient with noise, and soft edges in its alpha.
    private static func noise(hasAlpha: Bool) throws -> Image {
        var random = SeededGenerator(seed: 5)
        let bitmap = try Bitmap.make(180, 140) { x, y in
            let alpha = hasAlpha ? 55 + x : 255
            let color = [x, y, (x + y) / 2].map { UInt8(($0 + Int(random.next() % 60)) * alpha / 255) }
            return color + [UInt8(alpha)]
        }
        return Image(bitmap: bitmap)
    }

    /// A file, and the offset from which its bytes can be released: headers are compared at the end, modes of blocks
    /// (partition 0) and alpha are read as rows need them, the rest once.
    private static func file(_ kind: String) throws -> (data: Data, start: Int) {
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.95
        options.isLossless = kind == "lossless"
        let data = try WebPCoder().encode(noise(hasAlpha: kind != "lossy"), to: .webp, options: options)
        guard let chunk = data.firstRange(of: Data("VP8 ".utf8)) else { return (data, 64) }
        let tag = (0..<3).reduce(0) { $0 | Int(data[chunk.upperBound + 4 + $1]) << (8 * $1) }
        return (data, chunk.upperBound + 4 + 10 + tag >> 5)
    }

    @Test(arguments: ["lossy", "lossy-sharp", "lossy-alpha"])
    func `An image with an unusual partition is the same for any division of the bytes`(name: String) throws {
        var data = try Fixtures.data("WebP/\(name).webp")
        let chunk = try #require(data.firstRange(of: Data("VP8 ".utf8))).upperBound + 4
        let tag = (0..<3).reduce(0) { $0 | Int(data[chunk + $1]) << (8 * $1) }
        let partition = chunk + 10 + tag >> 5
        data[partition] = 255
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        #expect(expected.code == nil)
        for cut in partition - 3..<partition + 20 {
            let outcome = ProgressiveOutcome(pieces: [cut, cut + 1], of: data, coder, .init())
            #expect(outcome.matches(expected), "\(cut - partition) bytes of it")
        }
    }

    @Test(arguments: ["lossy", "lossy-sharp", "lossy-odd", "lossy-alpha"])
    func `The decoder waits for eight bytes of the last partition, and no longer`(name: String) throws {
        let data = try Fixtures.data("WebP/\(name).webp")
        let chunk = try #require(data.firstRange(of: Data("VP8 ".utf8))).upperBound + 4
        let image = Array(data[chunk...])
        let tag = Int(image[0]) | Int(image[1]) << 8 | Int(image[2]) << 16
        let needed = 10 + tag >> 5 + 8
        for count in [0, 9, 10, 12, needed - 9, needed - 8, needed, image.count] {
            let known = image.prefix(count).withUnsafeBytes { VP8Partitions.neededByteCount($0) }
            #expect(known == (count >= needed - 8 ? needed : known), "\(count)")
            if count < 10 { #expect(known == nil) }
        }
        // No key frame, and a header that its partition does not hold.
        var odd = image
        odd[0] |= 1
        #expect(odd.withUnsafeBytes { VP8Partitions.neededByteCount($0) } == 0)
        (odd[0], odd[1], odd[2]) = (0x10, 0, 0)
        #expect(odd.withUnsafeBytes { VP8Partitions.neededByteCount($0) } == 0)
    }

    @Test func `Several partitions are reported by their sizes`() {
        // A header of zeros is two bytes, of which the last two bits say how many partitions there are.
        for exponent in 0...3 {
            var image: [UInt8] = [0x10, 0x01, 0] + [0x9D, 1, 0x2A, 16, 0, 16, 0] + [0, UInt8(exponent)]
            image += [UInt8](repeating: 0, count: 6)
            let (count, sizes) = (1 << exponent, image.count)
            for index in 1..<count { image += [UInt8(index), 1, 0] }
            let expected = sizes + 3 * (count - 1) + (1..<count).reduce(0) { $0 + $1 + 256 } + 8
            image += [0]
            #expect(image.withUnsafeBytes { VP8Partitions.neededByteCount($0) } == expected, "\(exponent)")
            if count > 1 {
                let short = image.prefix(sizes + 3 * (count - 1) - 1)
                #expect(short.withUnsafeBytes { VP8Partitions.neededByteCount($0) } == nil)
            }
        }
    }

    @Test(arguments: ["lossy", "lossy with alpha", "lossless"])
    func `WebP bytes are not read twice`(kind: String) throws {
        let (data, start) = try Self.file(kind)
        #expect((start > 64) == (kind != "lossless"))
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        // Of a lossless image the decoder gets 32 rows at a time, and goes back by eight.
        let kept = kind == "lossless" ? data.count / 140 * (32 + 8 + 8) : 1024
        var overwritten = 0
        let outcome = ProgressiveOutcome(
            pieces: Array(stride(from: 700, to: data.count, by: 700)),
            of: data,
            coder,
            .init(),
            change: { bytes, former in
                guard former - kept > start else { return }
                for index in start..<former - kept { bytes[index] = UInt8(truncatingIfNeeded: index &* 73) }
                overwritten = former - kept - start
            }
        )
        #expect(outcome.matches(expected) && expected.code == nil)
        #expect(overwritten > (data.count - start) / 2, "\(data.count) bytes, \(start) of them before the pixels")
    }

    /// The chunks in the first frame of an animation.
    private func chunks(ofFirstFrame data: Data) throws -> [(kind: String, range: Range<Int>)] {
        let frame = try #require(data.firstRange(of: Data("ANMF".utf8)))
        func size(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(data[at + $1]) << (8 * $1) } }
        let end = frame.upperBound + 4 + size(frame.upperBound)
        var offset = frame.upperBound + 4 + 16
        var chunks: [(String, Range<Int>)] = []
        while offset + 8 <= end {
            let next = offset + 8 + size(offset + 4)
            chunks.append((String(decoding: data[offset..<offset + 4], as: UTF8.self), offset..<next))
            offset = next + next % 2
        }
        return chunks
    }

    @Test(arguments: [
        ("Animation/webp-lossy-0.webp", ["VP8 "]), ("Animation/webp-lossy-alpha-2.webp", ["ALPH", "VP8 "]),
    ])
    func `Rows of a lossy first frame are shown before it is whole`(name: String, kinds: [String]) throws {
        let data = try Fixtures.data(name)
        let found = try chunks(ofFirstFrame: data)
        #expect(found.map(\.kind) == kinds)
        let pixels = try #require(found.last).range
        let decoder = coder.makeProgressiveDecoder(options: .init())
        // Before the pixels there is no preview, with all of the alpha.
        try decoder.update(data.prefix(pixels.lowerBound + 8), isFinished: false)
        #expect(try decoder.image(maximumPreviewPixelCount: .max) == nil)
        #expect(decoder.properties?.width == 40 && decoder.properties?.height == 36)
        try decoder.update(data.prefix(pixels.upperBound - 1), isFinished: false)
        let preview = try #require(try decoder.image(maximumPreviewPixelCount: .max))
        var options = ImageDecodeOptions()
        options.pixelFormat = .bgra8Premultiplied
        let final = try coder.decode(data, options: options)
        #expect((preview.pixelWidth, preview.pixelHeight) == (40, 36) && preview.metadata.isIncremental)
        let shown = (0..<36).filter { !preview.hasRow($0, ofAlpha: 0) }
        #expect(shown.count > 8 && shown.dropLast().allSatisfy { preview.hasSameRow($0, as: final) })
        try decoder.update(data, isFinished: true)
        let end = try #require(try decoder.image(maximumPreviewPixelCount: .max))
        #expect(end.isSame(as: try coder.decode(data, options: .init())))
    }
}
