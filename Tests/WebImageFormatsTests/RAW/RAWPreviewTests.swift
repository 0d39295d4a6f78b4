import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageRAW

/// Previews of uncompressed samples, previews that a file states wrongly, and limits of previews.
@Suite(.tags(.addressSanitizer)) struct RAWPreviewTests {
    private static let coder = RAWCoder()

    private static func outcome(
        _ data: Data,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) -> Result<Image, WebImageError> {
        var options = ImageDecodeOptions()
        change(&options)
        do throws(WebImageError) {
            return .success(try coder.decode(data, options: options))
        } catch { return .failure(error) }
    }

    private static func error(
        _ file: String,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) throws -> WebImageError? {
        guard case .failure(let error) = outcome(try Fixtures.data("RAW/\(file)"), change) else { return nil }
        return error
    }

    // MARK: Uncompressed samples

    @Test func `Strips that do not follow one another are joined`() throws {
        let image = try Self.outcome(Fixtures.data("RAW/strips.dng")).get()
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("RAW/strips.ppm")).maximum == 0)
    }

    @Test func `A grey preview whose length is not stated is decoded exactly`() throws {
        let image = try Self.outcome(Fixtures.data("RAW/grey.dng")).get()
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("RAW/grey.pgm")).maximum == 0)
        let small = try Self.outcome(Fixtures.data("RAW/grey.dng")) {
            $0.thumbnailPixelSize = ImageSize(width: 12, height: 12)
        }
        #expect(try (small.get().pixelWidth, small.get().pixelHeight) == (12, 8))
    }

    /// Values of the first directory: a compression that LibRaw 0.20 reads as planes, three times as many bytes as it
    /// has allocated; planes; a strip behind the end; samples of 16 bits; strips without rows; sides without pixels and
    /// with more than the file has; other colours and samples; too short a strip.
    @Test(arguments: [
        (259, 0), (284, 2), (273, 1 << 30), (258, 16), (278, 0), (256, 0), (257, 65_535), (262, 1), (277, 4), (279, 10),
    ])
    func `A preview of other samples than packed ones, or without all, is not found`(tag: Int, value: Int) throws {
        let data = try RAWBytes.changing(tag, to: value, in: Fixtures.data("RAW/bitmap.dng"))
        guard case .failure(let error) = Self.outcome(data) else {
            Issue.record("it is decoded")
            return
        }
        #expect(error.code == .previewNotFound, "\(error)")
    }

    @Test func `If a preview is refused, the next one is decoded`() throws {
        // The packed pixels of 24x16 stand before two JPEG files.
        let data = try RAWBytes.changing(259, to: 0, in: Fixtures.data("RAW/previews.dng"))
        let image = try Self.outcome(data) { $0.thumbnailPixelSize = ImageSize(width: 20, height: 20) }.get()
        #expect((image.pixelWidth, image.pixelHeight) == (13, 20))
    }

    @Test func `A JPEG whose first bytes the camera has changed is decoded`() throws {
        let whole = try Fixtures.data("RAW/previews.dng")
        var changed = whole
        let starts = whole.indices.dropLast(2).filter { whole[$0...].starts(with: [0xFF, 0xD8, 0xFF]) }
        #expect(starts.count == 2)
        for start in starts.prefix(1) { changed.replaceSubrange(start..<start + 2, with: [0, 2]) }
        let (expected, image) = try (Self.outcome(whole).get(), Self.outcome(changed).get())
        #expect(image.bitmap.components == expected.bitmap.components && image.pixelWidth == 64)
        // The copy is counted.
        let options = ImageDecodeOptions()
        let needs = try [whole, changed].map { try Self.coder.memoryNeed(of: $0, options: options).workingByteCount }
        #expect(needs[1] > needs[0])
    }

    // MARK: Limits

    @Test func `Limits of pixels apply to the preview, and to the sensor only if it is developed`() throws {
        // A sensor of 24 megapixels with a preview of 96x64.
        let limit: (inout ImageDecodeOptions) -> Void = { $0.limits.maximumPixelCount = 96 * 64 }
        let data = try Fixtures.data("RAW/eosm50.cr3")
        let image = try Self.outcome(data, limit).get()
        #expect((image.pixelWidth, image.pixelHeight) == (96, 64))
        var limits = ImageLimits()
        limits.maximumPixelCount = 96 * 64
        #expect(try Self.coder.properties(of: data, limits: limits).width == 6024)
        var options = ImageDecodeOptions()
        options.limits = limits
        #expect(try Self.coder.memoryNeed(of: data, options: options).outputByteCount <= 96 * 64 * 4)
        let error = try Self.error("pidng.dng") {
            ($0.rawDevelopment, $0.limits.maximumPixelCount) = (.full, 96 * 64 - 1)
        }
        #expect(error?.limit?.name == "maximumPixelCount", "\(error as Any)")
    }

    @Test func `Of several previews those within the limits are decoded; without one the limit is the error`() throws {
        let data = try Fixtures.data("RAW/previews.dng")
        for (most, size) in [(96 * 64 - 1, (32, 48)), (48 * 32 - 1, (16, 24))] {
            let image = try Self.outcome(data) { $0.limits.maximumPixelCount = most }.get()
            #expect((image.pixelWidth, image.pixelHeight) == size)
        }
        let pixels = try Self.error("previews.dng") { $0.limits.maximumPixelCount = 24 * 16 - 1 }
        #expect(pixels?.limit?.name == "maximumPixelCount", "\(pixels as Any)")
        let bytes = try Self.error("bitmap.dng") { $0.limits.maximumDecodedByteCount = 48 * 32 * 3 - 1 }
        #expect(bytes?.limit?.name == "maximumDecodedByteCount", "\(bytes as Any)")
    }

    @Test func `Reading the header and the preview ends at the time limit`() throws {
        for file in ["previews.dng", "bitmap.dng", "eosm50.cr3", "olympus.orf"] {
            let error = try Self.error(file) { $0.limits.maximumDecodeDuration = 0 }
            #expect(error?.code == .decodeTimedOut, "\(file) \(error as Any)")
            var limits = ImageLimits()
            limits.maximumDecodeDuration = 0
            let header = #expect(throws: WebImageError.self) {
                try Self.coder.properties(of: Fixtures.data("RAW/\(file)"), limits: limits)
            }
            #expect(header?.code == .decodeTimedOut, "\(file) \(header as Any)")
        }
    }
}

/// Changes of raw files.
enum RAWBytes {
    /// Returns a file with another value of a tag in its first directory.
    static func changing(_ tag: Int, to value: Int, in data: Data) throws -> Data {
        var changed = data
        let directory = Int(data[4]) | Int(data[5]) << 8 | Int(data[6]) << 16 | Int(data[7]) << 24
        let count = Int(data[directory]) | Int(data[directory + 1]) << 8
        let entries = (0..<count).map { directory + 2 + 12 * $0 }
        let entry = try #require(entries.first { Int(data[$0]) | Int(data[$0 + 1]) << 8 == tag })
        // One LONG.
        let bytes = [4, 0, 1, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        changed.replaceSubrange(entry + 2..<entry + 12, with: bytes)
        return changed
    }
}
