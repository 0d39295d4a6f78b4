import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Large images with restart markers, which idle threads decode in bands.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .enabled(if: CodingQueue.processorCount > 1))
struct JPEGRestartTests {
    static let files = [
        "rows-420", "rows-422", "blocks-444", "rows-gray", "one-block", "rows-cmyk", "odd-420", "odd-440", "odd-411",
    ]
    private let coder = JPEGCoder()

    private func data(_ name: String) throws -> Data { try Fixtures.data("Restarts/\(name).jpg") }

    /// Different scales of the decoder, filters, and orders of rows.
    private static let ways: [ImageDecodeOptions] = {
        var ways = [ImageDecodeOptions()]
        for (side, quality) in [(900, ImageDecodeOptions.ScalingQuality.high), (400, .fast), (300, .high), (90, .high)]
        {
            var options = ImageDecodeOptions()
            options.thumbnailPixelSize = ImageSize(width: Double(side), height: Double(side))
            options.scalingQuality = quality
            ways.append(options)
        }
        var asBGRA = ImageDecodeOptions()
        asBGRA.pixelFormat = .bgra8Premultiplied
        return ways + [asBGRA]
    }()

    private func whole(_ data: Data, _ options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try CodingQueue.shared.withReservedPlaces(upTo: .max) { (_) throws(WebImageError) in
            try coder.decode(data, options: options)
        }
    }

    private func restarts(_ data: Data) throws -> JPEGRestarts? {
        try data.withBytes { (bytes) throws(WebImageError) in JPEGRestarts(try JPEGHeader(bytes), bytes) }
    }

    @Test(arguments: files)
    func `Bands have the pixels of the whole`(name: String) throws {
        let data = try data(name)
        #expect(try restarts(data) != nil)
        for options in Self.ways {
            let banded = try coder.decode(data, options: options)
            #expect(try banded.bitmap.pixels == whole(data, options).bitmap.pixels)
            #expect(!banded.metadata.isDamaged)
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Bands of a rotated image are in their places`(orientation: ImageOrientation) throws {
        var exif: [UInt8] = [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3]
        exif += [0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
        let file = try data("rows-420")
        let data = file.prefix(2) + Data(exif) + file.dropFirst(2)
        let banded = try coder.decode(data, options: ImageDecodeOptions())
        #expect(banded.metadata.sourceOrientation == orientation)
        #expect(try banded.bitmap.pixels == whole(data, ImageDecodeOptions()).bitmap.pixels)
    }

    @Test func `Rows can be read from any row on`() throws {
        for name in Self.files {
            try data(name).withBytes { (bytes) throws(WebImageError) in
                let header = try JPEGHeader(bytes)
                let components = header.frame.sampling.count
                let settings = JPEGScanlineSource.Settings(
                    layout: components == 1 ? .gray8 : components == 4 ? .cmyk8 : .rgb8,
                    eighths: 4,
                    maximumScanCount: 1
                )
                let source = try JPEGScanlineSource(bytes, header, settings)
                #expect(source.isRandomAccess)
                let stride = source.width * source.layout.bytesPerPixel
                let all = try ScratchBuffer(byteCount: stride * source.height)
                try source.readRows(source.height, into: all.base, bytesPerRow: stride)
                let row = try ScratchBuffer(byteCount: stride)
                for index in Swift.stride(from: 0, to: source.height, by: 7) {
                    try source.source(from: index).readRows(1, into: row.base, bytesPerRow: stride)
                    #expect(
                        (0..<stride).allSatisfy { row.bytes[$0] == all.bytes[index * stride + $0] },
                        "\(name) \(index)"
                    )
                }
            }
        }
    }

    @Test(arguments: ["rows-420", "blocks-444", "one-block"])
    func `Damage has the same result in bands`(name: String) throws {
        let file = try data(name)
        var random = SeededGenerator(seed: 29)
        var (damaged, inBands) = (0, 0)
        for _ in 0..<TestEffort.rounds(80) {
            var data = file
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                data[data.startIndex + Int.random(in: 400..<data.count, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            if Bool.random(using: &random) { data.removeLast(Int.random(in: 1...40, using: &random)) }
            if (try? restarts(data)) != nil { inBands += 1 }
            let results = [coder.decode, whole].map { decode in
                Result { () throws(WebImageError) in try decode(data, Self.ways[2]) }
            }
            switch (results[0], results[1]) {
            case (.success(let banded), .success(let whole)):
                #expect(banded.bitmap.pixels == whole.bitmap.pixels)
                #expect(banded.metadata.isDamaged == whole.metadata.isDamaged)
                if banded.metadata.isDamaged { damaged += 1 }
            case (.failure(let banded), .failure(let whole)): #expect(banded.code == whole.code)
            default: Issue.record("\(results)")
            }
        }
        #expect(damaged > 0 && inBands > 0)
    }

    @Test func `A missing, additional or wrong marker is no place to begin`() throws {
        let file = try data("rows-420")
        let markers = file.indices.dropLast().filter { file[$0] == 0xFF && (0xD0...0xD7).contains(file[$0 + 1]) }
        #expect(markers.count == 39)
        var wrong = file
        wrong[markers[7] + 1] = 0xD0
        var missing = file
        missing.removeSubrange(markers[9]..<markers[9] + 2)
        let additional =
            file.prefix(markers[20]) + Data([0xFF, file[markers[20] + 1]]) + file.suffix(from: markers[20])
        for data in [wrong, missing, additional, file.prefix(file.count - 2), file.prefix(markers[30])] {
            #expect(try restarts(Data(data)) == nil)
        }
    }

    @Test func `Bands end when the time of the decode is over`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumDecodeDuration = 1e9
        #expect(try coder.decode(data("rows-420"), options: options).bitmap.height == 634)
        options.limits.maximumDecodeDuration = 0
        #expect(throws: WebImageError(.decodeTimedOut, "")) { try coder.decode(data("rows-420"), options: options) }
    }

    @Test func `Images without markers, with several scans, or with few rows are decoded in order`() throws {
        for name in ["baseline-420", "progressive", "arithmetic", "restart"] {
            #expect(try restarts(Fixtures.data("JPEG/\(name).jpg")) == nil)
        }
    }

    @Test func `Other threads do a part of the work`() throws {
        let data = try data("rows-420")
        let alone = try CodingQueue.shared.withReservedPlaces(upTo: .max) { _ in try ownTime(data) }
        // Other tests may use all processors now.
        for _ in 0..<400 where try ownTime(data) < alone * 9 / 10 { return }
        Issue.record("the thread that decodes did all the work")
    }

    private func ownTime(_ data: Data) throws -> Int {
        let start = ThreadTime.nanoseconds
        _ = try coder.decode(data, options: ImageDecodeOptions())
        return ThreadTime.nanoseconds - start
    }
}
