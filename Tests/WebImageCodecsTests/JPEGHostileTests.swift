import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct JPEGHostileTests {
    private let coder = JPEGCoder()

    private func error(_ data: Data, change: (inout ImageDecodeOptions) -> Void = { _ in }) -> WebImageError? {
        var options = ImageDecodeOptions()
        change(&options)
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    private func fixture(_ name: String) throws -> Data { try Fixtures.data("JPEG/\(name).jpg") }

    @Test(arguments: [
        "baseline-420", "gray", "restart", "progressive", "arithmetic", "many-scans", "non-interleaved", "ycck",
    ])
    func `Every truncation is an error or the very same image`(_ name: String) throws {
        let data = try fixture(name)
        let whole = try coder.decode(data, options: .init()).bitmap
        var thumbnail = ImageDecodeOptions()
        thumbnail.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        for count in 0..<data.count {
            let cut = data.prefix(count)
            _ = try? coder.decode(cut, options: thumbnail)
            do throws(WebImageError) {
                let image = try coder.decode(cut, options: .init())
                let isSame = (0..<whole.height).allSatisfy { row in
                    memcmp(image.bitmap.mutableRow(row), whole.mutableRow(row), whole.width * 3) == 0
                }
                #expect(isSame, "\(name) cut to \(count) of \(data.count)")
                #expect(count > data.count - 20, "\(name) cut to \(count) of \(data.count) is not an error")
            } catch {
                #expect(error.code == .badImageData, "\(count): \(error)")
            }
        }
    }

    @Test(arguments: ["baseline-420", "progressive", "arithmetic", "orientation-6", "icc-wide", "cmyk", "restart"])
    func `Flipped bits never trap`(_ name: String) throws {
        let data = try fixture(name)
        var random = SeededGenerator(seed: name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        for round in 0..<400 {
            var damaged = data
            for _ in 0...random.next() % 4 {
                let position = Int(random.next() % UInt64(round % 2 == 0 ? data.count : min(data.count, 700)))
                damaged[damaged.startIndex + position] ^= UInt8(1 << (random.next() % 8))
            }
            _ = try? coder.properties(of: damaged, limits: .init())
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1_000_000
            if round % 3 == 0 { options.thumbnailPixelSize = ImageSize(width: 9, height: 9) }
            _ = try? coder.decode(damaged, options: options)
        }
    }

    @Test func `Bytes after the end are ignored`() throws {
        let data = try fixture("baseline-420") + Data(repeating: 0x41, count: 5000)
        #expect(error(data) == nil)
    }

    @Test func `A slice of other data is decoded`() throws {
        let data = Data([1, 2, 3]) + (try fixture("gray")) + Data([4])
        #expect(error(data[3...]) == nil)
        #expect(coder.canDecode(data[3...]) && !coder.canDecode(data))
    }

    @Test func `Data that is not JPEG is bad data`() {
        let inputs: [[UInt8]] = [
            [], [0xFF], [0xFF, 0xD8], [0xFF, 0xD8, 0xFF], [0xFF, 0xD8, 0xFF, 0xD9], [0xFF, 0xD8, 0xFF, 0xDA, 0, 2],
            Array("<html>not found</html>".utf8), [UInt8](repeating: 0xFF, count: 1000),
            [0xFF, 0xD8, 0xFF, 0xC0, 0, 8, 8, 0, 1, 0, 1, 1],
        ]
        for bytes in inputs { #expect(error(Data(bytes))?.code == .badImageData, "\(bytes.prefix(12))") }
    }

    @Test(arguments: ["lossless", "twelve-bit"])
    func `Unsupported kinds of JPEG are errors that say so`(_ name: String) throws {
        #expect(error(try fixture(name))?.code == .unsupportedFormat)
        #expect(throws: WebImageError(.unsupportedFormat, "")) {
            try coder.properties(of: fixture(name), limits: .init())
        }
    }

    @Test func `More scans than allowed are refused while they are read`() throws {
        let data = try fixture("many-scans")
        #expect(error(data) { $0.limits.maximumScanCount = 91 } == nil)
        #expect(error(data) { $0.limits.maximumScanCount = 90 }?.limit?.name == "maximumScanCount")
        #expect(error(try fixture("baseline-420")) { $0.limits.maximumScanCount = 1 } == nil)
    }

    @Test func `Bigger images may have fewer scans`() throws {
        var frame = try JPEGHeader(fixture("progressive")).frame
        var limits = ImageLimits()
        func limit(_ width: Int, _ height: Int) -> Int {
            frame.width = width
            frame.height = height
            return JPEGCoder.scanLimit(frame, limits)
        }
        #expect(limit(4000, 4000) == 500)
        #expect(limit(8000, 8000) == 125)
        #expect(limit(65_535, 4095) == 32)
        limits.maximumScanCount = 10
        #expect(limit(65_535, 4095) == 10)
    }

    @Test func `The coefficients of a progressive image count as memory`() throws {
        // 61 x 45 at 4:2:0 is 4 x 3 units of 6 blocks of 128 bytes.
        let box = ImageSize(width: 10, height: 10)
        func limit(_ bytes: Int, _ name: String) throws -> WebImageError.Limit? {
            error(try fixture(name)) {
                $0.limits.maximumDecodedByteCount = bytes
                $0.thumbnailPixelSize = box
            }?.limit
        }
        #expect(try limit(9215, "progressive")?.required == 9216)
        #expect(try limit(9216, "progressive") == nil)
        #expect(try limit(9215, "non-interleaved")?.required == 9216)
        #expect(try limit(1000, "baseline-420") == nil)
    }

    @Test func `A header that claims a huge image is refused before memory is allocated`() throws {
        var data = try fixture("progressive")
        let frame = try #require(data.firstRange(of: [0xFF, 0xC2]))
        data.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        #expect(error(data)?.limit?.name == "maximumPixelCount")
        #expect(error(data) { $0.limits.maximumPixelCount = .max }?.limit?.name == "maximumDecodedByteCount")
        data.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: [0, 0, 0, 61])
        #expect(error(data)?.code == .badImageData)
    }

    @Test func `A damaged colour profile changes nothing`() throws {
        let data = try fixture("icc-wide")
        let start = try #require(data.firstRange(of: Array("ICC_PROFILE".utf8))).lowerBound + 14
        let length = try #require(JPEGHeader(data).colorProfile).count
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var damaged = data
            for _ in 0..<4 {
                let position = Int(random.next() % UInt64(length))
                damaged[start + position] = UInt8(truncatingIfNeeded: random.next())
            }
            #expect(error(damaged) == nil)
        }
    }
}
