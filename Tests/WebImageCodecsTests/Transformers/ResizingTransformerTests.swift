import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ResizingTransformerTests {
    /// An opaque image of `width` × `height` whose left half is red and whose right half is blue.
    private func halves(_ width: Int, _ height: Int, scale: Double = 1, _ orientation: ImageOrientation = .up) throws
        -> Image
    {
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgb8)
        for y in 0..<height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                row[x * 3] = x < width / 2 ? 255 : 0
                row[x * 3 + 1] = 0
                row[x * 3 + 2] = x < width / 2 ? 0 : 255
            }
        }
        return Image(bitmap: bitmap, scale: scale, orientation: orientation)
    }

    /// Red, green, blue, alpha of a pixel.
    private func pixel(_ image: Image, _ x: Int, _ y: Int) -> [UInt8] {
        let row = image.bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
        guard image.hasAlpha else { return [row[x * 3], row[x * 3 + 1], row[x * 3 + 2], 255] }
        return [row[x * 4 + 2], row[x * 4 + 1], row[x * 4], row[x * 4 + 3]]
    }

    private func resized(_ image: Image, _ width: Double, _ height: Double, _ mode: ImageScaleMode) throws -> Image {
        try ResizingTransformer(size: ImageSize(width: width, height: height), scaleMode: mode).transform(image)
    }

    @Test func `Fill stretches to exactly the size`() throws {
        let result = try resized(try halves(40, 20), 20, 40, .fill)
        #expect([result.pixelWidth, result.pixelHeight] == [20, 40])
        #expect(pixel(result, 1, 1) == [255, 0, 0, 255] && pixel(result, 18, 38) == [0, 0, 255, 255])
        #expect(!result.hasAlpha)
    }

    @Test func `Fit centres the whole image between transparent bars`() throws {
        let result = try resized(try halves(40, 20), 20, 20, .aspectFit)
        #expect([result.pixelWidth, result.pixelHeight] == [20, 20])
        #expect(result.hasAlpha)
        for y in [0, 4, 15, 19] { #expect(pixel(result, 10, y) == [0, 0, 0, 0]) }
        for y in [5, 14] {
            #expect(pixel(result, 1, y) == [255, 0, 0, 255] && pixel(result, 18, y) == [0, 0, 255, 255])
        }
    }

    @Test func `Fit without bars stays opaque`() throws {
        #expect(try !resized(try halves(40, 20), 80, 40, .aspectFit).hasAlpha)
    }

    @Test func `Cover fills the size and crops the rest`() throws {
        let result = try resized(try halves(40, 20), 20, 20, .aspectFill)
        #expect([result.pixelWidth, result.pixelHeight] == [20, 20])
        #expect(pixel(result, 1, 10) == [255, 0, 0, 255] && pixel(result, 18, 10) == [0, 0, 255, 255])
        #expect(!result.hasAlpha)
    }

    @Test func `The size is in points of the image's scale`() throws {
        let result = try resized(try halves(40, 20, scale: 2), 10, 10, .fill)
        #expect([result.pixelWidth, result.pixelHeight] == [20, 20])
        #expect(result.scale == 2 && result.size == ImageSize(width: 10, height: 10))
    }

    @Test func `The size is that of the upright image`() throws {
        let result = try resized(try halves(40, 20, .right), 10, 20, .fill)
        #expect(result.orientation == .up)
        #expect([result.pixelWidth, result.pixelHeight] == [10, 20])
        #expect(pixel(result, 5, 1) == [255, 0, 0, 255], "the left side is on top")
        #expect(pixel(result, 5, 18) == [0, 0, 255, 255])
    }

    @Test(arguments: [(0.0, 5.0), (5, -1), (.nan, 5), (.infinity, 5)])
    func `An invalid size is an error`(width: Double, height: Double) throws {
        let image = try halves(4, 4)
        let error = #expect(throws: WebImageError.self) { try resized(image, width, height, .fill) }
        #expect(error?.code == .transformFailed)
    }

    @Test func `A size above the limits is refused before memory is allocated`() throws {
        let image = try halves(4, 4)
        for (width, height) in [(1e300, 5.0), (70_000, 5), (60_000, 60_000)] {
            let error = #expect(throws: WebImageError.self) { try resized(image, width, height, .aspectFit) }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test func `The key contains size and mode`() {
        let transformer = ResizingTransformer(size: ImageSize(width: 100.5, height: 30), scaleMode: .aspectFill)
        #expect(transformer.transformerKey == "SDImageResizingTransformer({100.500000,30.000000},2)")
    }

    @Test func `A chain applies all, and its key joins theirs`() throws {
        let chain = PipelineTransformer([
            ResizingTransformer(size: ImageSize(width: 20, height: 10), scaleMode: .fill),
            PipelineTransformer([ResizingTransformer(size: ImageSize(width: 6, height: 6), scaleMode: .fill)]),
        ])
        #expect(chain.transformerKey.components(separatedBy: "-").count == 2)
        #expect(chain.flattened.count == 2)
        #expect(try chain.transform(try halves(40, 20)).pixelWidth == 6)
        #expect(PipelineTransformer([]).transformerKey.isEmpty)
    }
}
