import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct JPEGDamageTests {
    private let coder = JPEGCoder()

    private func data(_ name: String) throws -> Data { try Fixtures.data("JPEG/\(name).jpg") }

    private var strict: ImageDecodeOptions {
        var options = ImageDecodeOptions()
        options.refusesDamagedData = true
        return options
    }

    private static let damaged = ["damaged-codes", "damaged-restarts", "damaged-progressive"]
    @Test(arguments: damaged)
    func `Damage that libjpeg conceals is decoded as in Pillow, and reported`(name: String) throws {
        let image = try coder.decode(data(name), options: ImageDecodeOptions())
        let found = try PixelDifference(image.bitmap, Fixtures.pixels("JPEG/\(name).ppm"))
        #expect(found.maximum == 0, "\(found)")
        #expect(image.metadata.isDamaged)
        var thumbnail = ImageDecodeOptions()
        thumbnail.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        #expect(try coder.decode(data(name), options: thumbnail).metadata.isDamaged)
    }

    @Test(arguments: damaged)
    func `With the strict option damage is an error`(name: String) throws {
        let data = try data(name)
        #expect(throws: WebImageError(.badImageData, "")) { try coder.decode(data, options: strict) }
    }

    @Test(arguments: ["baseline-420", "progressive", "restart", "arithmetic", "cmyk"])
    func `A whole image is not damaged, and the strict option changes nothing`(name: String) throws {
        let image = try coder.decode(data(name), options: strict)
        #expect(!image.metadata.isDamaged)
        #expect(try !coder.decode(data(name), options: ImageDecodeOptions()).metadata.isDamaged)
    }

    @Test func `Damage does not hide a truncated end`() throws {
        for name in Self.damaged {
            let data = try data(name)
            for count in TestEffort.some(of: 0..<data.count - 20) {
                let image = try? coder.decode(data.prefix(count), options: ImageDecodeOptions())
                // Damaged codes may decode to a whole image from a part of the bytes.
                guard let image else { continue }
                let expected = try Fixtures.pixels("JPEG/\(name).ppm")
                let isAll = image.metadata.isDamaged && PixelDifference(image.bitmap, expected).maximum == 0
                #expect(isAll, "\(name) cut to \(count) of \(data.count)")
            }
        }
    }

    @Test(arguments: damaged)
    func `A damaged image decoded incrementally equals one decoded at once`(name: String) throws {
        let data = try data(name)
        let whole = try coder.decode(data, options: ImageDecodeOptions())
        let decoder = coder.makeProgressiveDecoder(options: ImageDecodeOptions())
        for part in 1...7 { try decoder.update(data.prefix(data.count * part / 8), isFinished: false) }
        try decoder.update(data, isFinished: true)
        let image = try #require(try decoder.image(maximumPreviewPixelCount: 1000))
        let found = PixelDifference(image.bitmap, try Fixtures.pixels("JPEG/\(name).ppm"))
        #expect(found.maximum == 0)
        #expect(image.metadata == whole.metadata)
        let refusing = coder.makeProgressiveDecoder(options: strict)
        #expect(throws: WebImageError(.badImageData, "")) { try refusing.update(data, isFinished: true) }
    }

    @Test func `A transformed damaged image is damaged`() throws {
        let image = try coder.decode(data("damaged-codes"), options: ImageDecodeOptions())
        let result = try FlippingTransformer(horizontal: true, vertical: false).apply(to: image)
        #expect(result.metadata.isDamaged)
    }

    @Test func `Thousands of scans are refused before the first is decoded`() throws {
        let progressive = try data("progressive")
        let start = try #require(progressive.lastRange(of: [0xFF, 0xDA])).lowerBound
        let scan = progressive[start..<progressive.count - 2]
        var data = progressive.prefix(start)
        for _ in 0..<3000 { data += scan }
        data += [0xFF, 0xD9]
        var options = ImageDecodeOptions()
        // No time for a scan: an image refused later would be out of time.
        options.limits.maximumDecodeDuration = 0
        let error = #expect(throws: WebImageError.self) { try coder.decode(data, options: options) }
        #expect(error?.limit?.name == "maximumScanCount")
    }

    @Test func `Too many scans of an arriving image are refused before they are decoded`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumScanCount = 3
        let data = try data("many-scans")
        let decoder = IncrementalJPEG(options: options)
        let error = #expect(throws: WebImageError.self) { try decoder.advance(data, isFinished: true) }
        #expect(error?.limit?.name == "maximumScanCount")
    }

    @Test func `Scans are counted in any division of the bytes`() throws {
        for (name, count) in [("many-scans", 91), ("non-interleaved", 3), ("progressive", 10)] {
            let data = try data(name)
            var counter = try #require(JPEGScanCounter(JPEGHeader(data)))
            for end in data.indices {
                try data.withBytes { (bytes) throws(WebImageError) in
                    try counter.count(UnsafeRawBufferPointer(rebasing: bytes[...end]), limit: 1000)
                }
            }
            #expect(counter.scanCount == count, "\(name)")
            #expect(throws: WebImageError.self) {
                var other = try #require(JPEGScanCounter(JPEGHeader(data)))
                try data.withBytes { (bytes) throws(WebImageError) in try other.count(bytes, limit: count - 1) }
            }
        }
        #expect(try JPEGScanCounter(JPEGHeader(data("baseline-420"))) == nil)
    }
}
