import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

@Suite struct ProgressiveWorkTests {
    /// Where the compressed pixels of a PNG lie: in the IDAT chunks.
    private static func pixels(ofPNG data: Data) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var offset = 8
        while offset + 12 <= data.count {
            let length = data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            if data[offset + 4..<offset + 8] == Data("IDAT".utf8) { ranges.append(offset + 8..<offset + 8 + length) }
            offset += 12 + length
        }
        return ranges
    }

    @Test(arguments: [
        "JPEG/photo.jpg", "Options/photo-progressive.jpg", "PNG/photo-rgb.png", "PNG/photo-rgba.png", "GIF/photo.gif",
        "GIF/photo-interlaced.gif",
    ])
    func `What was read is not read again`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        let pixels = name.hasPrefix("PNG") ? Self.pixels(ofPNG: data) : [0..<data.count]
        // A decoder may go back to the beginning of a block of pixels or of codes.
        let kept = name.hasPrefix("PNG") ? 0 : 1024
        var overwritten = 0
        let outcome = ProgressiveOutcome(
            pieces: Array(stride(from: 700, to: data.count, by: 700)),
            of: data,
            coder,
            .init(),
            change: { bytes, former in
                for range in pixels where range.lowerBound < former - kept {
                    let gone = range.lowerBound..<min(range.upperBound, former - kept)
                    for index in gone { bytes[index] = UInt8(truncatingIfNeeded: index &* 73) }
                    overwritten = max(overwritten, gone.upperBound)
                }
            }
        )
        #expect(outcome.matches(expected))
        #expect(overwritten > data.count / 2)
    }

    @Test func `Before a long preamble has passed nothing is known, and then all of the header`() throws {
        let data = try Fixtures.data("JPEG/icc-long.jpg")
        var preamble = Data()
        for _ in 0..<5 { preamble += Data([0xFF, 0xE1, 0xFF, 0xFF]) + Data(repeating: 0, count: 0xFFFD) }
        let file = data.prefix(2) + preamble + data.dropFirst(2)
        let decoder = JPEGCoder().makeProgressiveDecoder(options: .init())
        try decoder.update(Data(file.prefix(preamble.count)), isFinished: false)
        #expect(decoder.properties == nil)
        let scan = try #require(data.ranges(of: Data([0xFF, 0xDA])).last).upperBound + 14 + preamble.count
        for count in stride(from: preamble.count, to: scan, by: 997) {
            try decoder.update(Data(file.prefix(count)), isFinished: false)
        }
        try decoder.update(Data(file.prefix(scan)), isFinished: false)
        let properties = try #require(decoder.properties)
        #expect(properties == (try JPEGCoder().properties(of: data, limits: .init())))
        try decoder.update(file, isFinished: true)
        let image = try #require(try decoder.image(maximumPreviewPixelCount: 10))
        #expect(image.isSame(as: try JPEGCoder().decode(file, options: .init())))
    }

    @Test(arguments: [
        ("PNG/photo-rgb.png", 33), ("GIF/photo.gif", 13 + 768), ("WebP/lossy.webp", 30),
        ("WebP/lossy-alpha.webp", 30),
        ("WebP/lossless.webp", 38), ("WebP/animated.webp", 30),
    ])
    func `The size is known from the first bytes`(name: String, count: Int) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        let decoder = coder.makeProgressiveDecoder(options: .init())
        try decoder.update(data.prefix(count), isFinished: false)
        let stated = try coder.properties(of: data, limits: .init())
        let known = try #require(decoder.properties)
        #expect((known.width, known.height) == (stated.width, stated.height))
        #expect(known.format == stated.format)
        try decoder.update(data, isFinished: true)
        #expect(decoder.properties == stated)
    }
}
