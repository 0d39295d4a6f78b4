import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// The targets' checks detect a coder with a single fault, and accept one without.
@Suite(.tags(.addressSanitizer)) struct ImageCheckTests {
    private static let data = Data("a picture".utf8)

    @Test func `A correct coder is accepted`() {
        #expect(Self.finding(of: FaultyCoder()) == nil)
    }

    @Test func `An image of another size than its header's is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .otherSize))?.contains("pixels for") == true)
    }

    @Test func `Pixels without a header are detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .noHeader)) == "pixels without a header")
    }

    @Test func `A thumbnail that does not fit its box is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .bigThumbnail))?.contains("does not fit into") == true)
    }

    @Test func `Unwritten pixels are detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .changingPixels)) == "two decodes of the same bytes differ")
    }

    @Test func `A colour brighter than its alpha is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .brightColor))?.contains("brighter than its alpha") == true)
    }

    @Test func `A half float of NaN or infinity is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .noNumber))?.contains("is no number") == true)
    }

    @Test func `An error that the protocol does not promise is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .otherError))?.contains("an error of another kind") == true)
    }

    @Test func `A header above the limits is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .hugeHeader))?.contains("over the limit") == true)
    }

    @Test func `A cost estimate below the pixels' size is detected`() {
        #expect(Self.finding(of: FaultyCoder(fault: .smallNeed)) == "less memory is declared than the pixels take")
    }

    private static func finding(of coder: FaultyCoder) -> String? {
        do throws(FuzzFinding) {
            var check = ImageCheck(coder, data)
            try check.run()
            return nil
        } catch { return error.description }
    }
}

/// Makes a grey image of 100 by 100 out of anything, with one fault.
private struct FaultyCoder: ImageCoder {
    enum Fault {
        case otherSize, noHeader, bigThumbnail, changingPixels, brightColor, noNumber, otherError, hugeHeader, smallNeed
    }

    var fault: Fault?
    private let counter = Counter()

    init(fault: Fault? = nil) { self.fault = fault }

    private final class Counter: Sendable {
        let value = Lock<UInt8>(0)

        func next() -> UInt8 {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    func canDecode(_ data: Data) -> Bool { true }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        if fault == .noHeader { throw WebImageError(.badImageData, "there is no header") }
        let side = fault == .hugeHeader ? 1 << 20 : 100
        return ImageProperties(format: .bmp, width: side, height: 100)
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        if fault == .otherError { throw WebImageError(.cancelled, "nobody has cancelled it") }
        var (width, height) = (100, 100)
        if let box = options.thumbnailPixelSize {
            (width, height) = (min(100, Int(box.width)), min(100, Int(box.height)))
            if fault == .bigThumbnail { width += 1 }
        }
        if fault == .otherSize { height = 99 }
        let format: PixelFormat = fault == .noNumber ? .rgbaHalfPremultiplied : .bgra8Premultiplied
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
        let byte = fault == .changingPixels ? counter.next() : 0x30
        memset(bitmap.mutableRow(0), Int32(byte), bitmap.bytesPerRow * height)
        let first = bitmap.mutableRow(0).assumingMemoryBound(to: UInt8.self)
        if fault == .brightColor { first[2] = 0xFF }
        if fault == .noNumber { (first[0], first[1]) = (0x00, 0x7C) }
        return Image(bitmap: bitmap)
    }

    func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        DecodeMemoryNeed(outputByteCount: fault == .smallNeed ? 10 : 100 * 100 * 8, workingByteCount: 0)
    }

    func canEncode(to format: ImageFormat) -> Bool { false }

    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        throw WebImageError(.encodingFailed, "nothing is encoded")
    }
}
