import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ImageCodersManagerTests {
    private let anything = Data("anything".utf8)

    /// The numbers of the coders that were used: for the properties, for the image, and for the bytes of one.
    private func answers(_ manager: ImageCodersManager, to data: Data) throws -> [Int] {
        let image = try manager.decode(data, options: ImageDecodeOptions())
        let encoded = try manager.encode(image, to: .webp, options: ImageEncodeOptions())
        return [
            try manager.properties(of: data, limits: ImageLimits()).width, image.pixelWidth, Int(encoded.first ?? 0),
        ]
    }

    @Test func `Of several possible coders the one given last is used`() throws {
        let manager = ImageCodersManager(coders: [NumberedCoder(1), NumberedCoder(2), NumberedCoder(3)])
        #expect(try answers(manager, to: anything) == [3, 3, 3])
    }

    @Test func `An added coder precedes all others, the one added last first`() throws {
        let manager = ImageCodersManager(coders: [NumberedCoder(1)])
        #expect(try answers(manager, to: anything) == [1, 1, 1])
        manager.add(NumberedCoder(2))
        #expect(try answers(manager, to: anything) == [2, 2, 2])
        manager.add(NumberedCoder(3))
        #expect(try answers(manager, to: anything) == [3, 3, 3])
        manager.coders.removeLast()
        #expect(try answers(manager, to: anything) == [2, 2, 2])
    }

    @Test func `The order of the list is the order of use, whatever it was before`() throws {
        let manager = ImageCodersManager(coders: [NumberedCoder(1), NumberedCoder(2)])
        manager.coders.reverse()
        #expect(try answers(manager, to: anything) == [1, 1, 1])
    }

    @Test func `Coders that do not accept the data, or do not write the format, are skipped`() throws {
        let manager = ImageCodersManager(coders: [
            NumberedCoder(1), NumberedCoder(2), NumberedCoder(3, reads: false), NumberedCoder(4, writes: false),
            NumberedCoder(5, reads: false, writes: false),
        ])
        #expect(try answers(manager, to: anything) == [4, 4, 3])
        #expect(manager.canDecode(anything) && manager.canEncode(to: .webp))
        manager.coders = [NumberedCoder(5, reads: false, writes: false)]
        #expect(!manager.canDecode(anything) && !manager.canEncode(to: .webp))
    }

    @Test func `The first accepting coder's result is final, even an error`() throws {
        let manager = ImageCodersManager(coders: [NumberedCoder(1), NumberedCoder(2, fails: true)])
        #expect(throws: WebImageError.self) { try manager.decode(anything, options: ImageDecodeOptions()) }
        #expect(throws: WebImageError.self) { try manager.properties(of: anything, limits: ImageLimits()) }
        let image = try NumberedCoder(1).decode(anything, options: ImageDecodeOptions())
        #expect(throws: WebImageError.self) { try manager.encode(image, to: .png, options: ImageEncodeOptions()) }
    }

    @Test func `A custom coder precedes the built-in ones, also for their formats`() throws {
        let manager = ImageCodersManager()
        let data = try Fixtures.data("JPEG/gray.jpg")
        #expect(try manager.decode(data, options: ImageDecodeOptions()).pixelWidth == 61)
        manager.add(NumberedCoder(7))
        #expect(try answers(manager, to: data) == [7, 7, 7])
        #expect(ImageCodersManager().coders.count == manager.coders.count - 1, "others have their own list")
    }

    @Test func `A document is an error that names PDF`() {
        let manager = ImageCodersManager()
        let data = Data("%PDF-1.7\n%%EOF\n".utf8)
        #expect(!manager.canDecode(data) && !manager.canEncode(to: .pdf))
        let error = #expect(throws: WebImageError.self) { try manager.decode(data, options: ImageDecodeOptions()) }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("PDF") == true)
    }
}

/// A coder whose images are as wide as its number, and whose bytes are that number.
private struct NumberedCoder: ImageCoder {
    let number: Int
    let reads: Bool
    let writes: Bool
    let fails: Bool

    init(_ number: Int, reads: Bool = true, writes: Bool = true, fails: Bool = false) {
        (self.number, self.reads, self.writes, self.fails) = (number, reads, writes, fails)
    }

    func canDecode(_ data: Data) -> Bool { reads }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        guard !fails else { throw WebImageError(.badImageData, "coder \(number)") }
        return ImageProperties(format: .webp, width: number, height: 1)
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        guard !fails else { throw WebImageError(.badImageData, "coder \(number)") }
        return Image(bitmap: try .allocate(width: number, height: 1, pixelFormat: .rgb8))
    }

    func canEncode(to format: ImageFormat) -> Bool { writes }

    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        guard !fails else { throw WebImageError(.encodingFailed, "coder \(number)") }
        return Data([UInt8(number)])
    }
}
