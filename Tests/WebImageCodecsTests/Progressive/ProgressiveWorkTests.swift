import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ProgressiveWorkTests {
    /// The compressed pixels of a PNG: in the IDAT chunks.
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
    func `Bytes are not read twice`(name: String) throws {
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

    @Test func `Before a long preamble has ended nothing is known, and then all of the header`() throws {
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

    @Test(arguments: ["JPEG/photo.jpg", "JPEG/orientation-6.jpg", "JPEG/arithmetic.jpg", "JPEG/progressive.jpg"])
    func `The size of a JPEG is known with its frame header, whatever follows before the first scan`(
        name: String
    ) throws {
        let data = try Fixtures.data(name)
        let header = try #require(
            [0xC0, 0xC2, 0xC9].compactMap { data.firstRange(of: Data([0xFF, $0, 0])) }.map(\.lowerBound).min()
        )
        let end = header + 2 + Int(data[header + 2]) << 8 + Int(data[header + 3])
        var filling = Data()
        for kind in [0xE3, 0xFE, 0xE5, 0xFE, 0xE1] as [UInt8] {
            filling += Data([0xFF, kind, 0xFF, 0xFF]) + Data(repeating: 7, count: 0xFFFD)
        }
        let file = data.prefix(end) + filling + data.dropFirst(end)
        let decoder = JPEGCoder().makeProgressiveDecoder(options: .init())
        try decoder.update(Data(file.prefix(end - 1)), isFinished: false)
        #expect(decoder.properties == nil)
        try decoder.update(Data(file.prefix(end)), isFinished: false)
        let expected = try JPEGCoder().properties(of: data, limits: .init())
        #expect(decoder.properties == expected)
        try decoder.update(Data(file.prefix(end + filling.count - 9)), isFinished: false)
        #expect(decoder.properties == expected)
        #expect(try decoder.image(maximumPreviewPixelCount: 10) == nil)
        try decoder.update(file, isFinished: true)
        let image = try #require(try decoder.image(maximumPreviewPixelCount: 10))
        #expect(image.isSame(as: try JPEGCoder().decode(data, options: .init())))
    }

    @Test func `A colour profile after the frame header is reported once it has arrived`() throws {
        let data = try Fixtures.data("JPEG/icc-wide.jpg")
        let profile = try #require(data.firstRange(of: Data([0xFF, 0xE2]))).lowerBound
        let length = 2 + Int(data[profile + 2]) << 8 + Int(data[profile + 3])
        let scan = try #require(data.ranges(of: Data([0xFF, 0xDA, 0])).last).lowerBound
        let moved =
            data[..<profile] + data[(profile + length)..<scan] + data[profile..<profile + length] + data[scan...]
        let decoder = JPEGCoder().makeProgressiveDecoder(options: .init())
        try decoder.update(Data(moved.prefix(scan - length)), isFinished: false)
        #expect(decoder.properties?.width == 61 && decoder.properties?.colorProfile == nil)
        try decoder.update(Data(moved.prefix(scan + 20)), isFinished: false)
        #expect(decoder.properties?.colorProfile == "Test wide RGB")
    }

    @Test(arguments: [
        ("PNG/photo-rgb.png", 33), ("PNG/animated-default-image.png", 33), ("GIF/photo.gif", 13),
        ("WebP/lossy.webp", 30),
        ("Animation/webp-lossy-alpha-2.webp", 30), ("JPEG/photo.jpg", 600), ("JPEG/arithmetic.jpg", 600),
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
