import CPixels
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Rows from memory, and a log of how they were requested.
private final class MemorySource: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    private let rows: [[UInt8]]
    private(set) var mostRowsAtOnce = 0
    private var next = 0

    init(_ layout: ScanlineLayout, _ width: Int, _ rows: [[UInt8]], colorProfile: Data? = nil) {
        self.layout = layout
        self.width = width
        height = rows.count
        self.rows = rows
        self.colorProfile = colorProfile
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        mostRowsAtOnce = max(mostRowsAtOnce, count)
        for row in 0..<count {
            guard next < rows.count else { throw WebImageError(.badImageData, "no more rows") }
            (base + row * bytesPerRow).copyMemory(from: rows[next], byteCount: width * layout.bytesPerPixel)
            next += 1
        }
    }
}

@Suite(.tags(.addressSanitizer)) struct ImageAssemblerTests {
    private func assemble(
        _ source: MemorySource,
        _ orientation: ImageOrientation = .up,
        size: (width: Int, height: Int)? = nil,
        change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) throws -> Image {
        var properties = ImageProperties(format: .png, width: source.width, height: source.height)
        properties.orientation = orientation
        properties.frameCount = 3
        properties.loopCount = 7
        var options = ImageDecodeOptions()
        change(&options)
        let plan = DecodePlan(
            width: size?.width ?? source.width,
            height: size?.height ?? source.height,
            orientation: orientation,
            isThumbnail: size != nil
        )
        return try ImageAssembler.makeImage(from: source, properties: properties, plan: plan, options: options)
    }

    private func pixels(_ image: Image) -> [[UInt8]] {
        (0..<image.pixelHeight).flatMap { y in
            (0..<image.pixelWidth).map { image.bitmap.premultipliedRGBA(x: $0, y: y) }
        }
    }

    @Test func `Each layout becomes the right pixels in each format`() throws {
        let cases: [(ScanlineLayout, [UInt8], [UInt8])] = [
            (.gray8, [90], [90, 90, 90, 255]), (.rgb8, [1, 2, 3], [1, 2, 3, 255]),
            (.cmyk8, [255, 0, 0, 0], [0, 255, 255, 255]), (.cmyk8, [0, 100, 200, 55], [200, 122, 43, 255]),
        ]
        for (layout, bytes, expected) in cases {
            for format in PixelFormat.allCases {
                let image = try assemble(MemorySource(layout, 1, [bytes])) { $0.pixelFormat = format }
                #expect(image.bitmap.pixelFormat == format)
                #expect(pixels(image) == [expected], "\(layout) \(format)")
            }
        }
    }

    @Test func `Alpha is premultiplied and never dropped`() throws {
        let source = MemorySource(.rgba8, 3, [[200, 100, 50, 128, 9, 9, 9, 0, 10, 20, 30, 255]])
        let image = try assemble(source) { $0.pixelFormat = .rgb8 }
        #expect(image.bitmap.pixelFormat == .bgra8Premultiplied && image.hasAlpha)
        #expect(pixels(image) == [[100, 50, 25, 128], [0, 0, 0, 0], [10, 20, 30, 255]])
    }

    @Test func `Final pixels are read at once, others a few rows at a time`() throws {
        let rows = [[UInt8]](repeating: [UInt8](repeating: 5, count: 400), count: 100)
        let final = MemorySource(.bgra8Premultiplied, 100, rows)
        _ = try assemble(final)
        #expect(final.mostRowsAtOnce == 100)
        for source in [MemorySource(.rgba8, 100, rows), MemorySource(.cmyk8, 100, rows)] {
            _ = try assemble(source)
            #expect(source.mostRowsAtOnce == Resampler.blockRows)
        }
        let small = MemorySource(.rgb8, 100, rows)
        _ = try assemble(small, size: (10, 10))
        #expect(small.mostRowsAtOnce == Resampler.blockRows)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Every orientation of every format is placed right, for any size`(_ orientation: ImageOrientation) throws {
        for (width, height) in [(1, 1), (3, 2), (2, 40), (40, 2), (17, 33), (64, 16)] {
            let rows = (0..<height).map { y -> [UInt8] in
                (0..<width).flatMap { x -> [UInt8] in [UInt8(x), UInt8(y), 7] }
            }
            for format in PixelFormat.allCases {
                let image = try assemble(MemorySource(.rgb8, width, rows), orientation) { $0.pixelFormat = format }
                let swaps = orientation.swapsSides
                #expect(image.pixelWidth == (swaps ? height : width) && image.pixelHeight == (swaps ? width : height))
                let isRight = (0..<image.pixelHeight).allSatisfy { y in
                    (0..<image.pixelWidth).allSatisfy { x in
                        let stored = stored(x, y, width, height, orientation)
                        return image.bitmap.premultipliedRGBA(x: x, y: y) == [UInt8(stored.x), UInt8(stored.y), 7, 255]
                    }
                }
                #expect(isRight, "\(width)x\(height) \(format)")
            }
        }
    }

    /// Returns where the pixel shown at (x, y) is stored, by the definition of the EXIF tag: the sides of the image
    /// where row 0 and column 0 are.
    private func stored(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ orientation: ImageOrientation) -> (
        x: Int, y: Int
    ) {
        switch orientation.rawValue {
        case 1: (x, y)
        case 2: (width - 1 - x, y)
        case 3: (width - 1 - x, height - 1 - y)
        case 4: (x, height - 1 - y)
        case 5: (y, x)
        case 6: (y, height - 1 - x)
        case 7: (width - 1 - y, height - 1 - x)
        default: (width - 1 - y, x)
        }
    }

    @Test func `Colours are converted before they are premultiplied`() throws {
        let profile = try #require(JPEGHeader(Fixtures.data("JPEG/icc-wide.jpg")).colorProfile)
        let opaque = try assemble(MemorySource(.rgb8, 1, [[180, 60, 200]], colorProfile: profile))
        let converted = pixels(opaque)[0]
        #expect(converted != [180, 60, 200, 255])
        let clear = try assemble(MemorySource(.rgba8, 1, [[180, 60, 200, 100]], colorProfile: profile))
        let premultiplied: [UInt8] = converted.dropLast().map { UInt8((Int($0) * 200 + 255) / 510) }
        #expect(pixels(clear)[0] == premultiplied + [100])
        let small = try assemble(
            MemorySource(.rgb8, 2, [[180, 60, 200, 180, 60, 200]], colorProfile: profile),
            size: (1, 1)
        )
        #expect(pixels(small)[0] == converted)
    }

    @Test func `Metadata describes the file`() throws {
        let source = MemorySource(.gray8, 4, [[1, 2, 3, 4], [1, 2, 3, 4]])
        let image = try assemble(source, .left, size: (2, 1)) { $0.scaleFactor = 3 }
        #expect(image.metadata.format == .png && image.metadata.frameCount == 3 && image.metadata.loopCount == 7)
        #expect(image.metadata.sourceWidth == 4 && image.metadata.sourceHeight == 2)
        #expect(image.metadata.sourceOrientation == .left && image.orientation == .up && image.metadata.isThumbnail)
        #expect(image.scale == 3 && image.pixelWidth == 1 && image.pixelHeight == 2)
    }

    @Test func `A failing source fails the image, on every path`() {
        for (layout, size) in [(ScanlineLayout.rgb8, nil), (.rgba8, nil), (.rgb8, (width: 2, height: 2))] {
            let source = MemorySource(layout, 4, [[UInt8]](repeating: [UInt8](repeating: 0, count: 16), count: 20))
            // The rows read elsewhere are missing at the end.
            var taken = [UInt8](repeating: 0, count: 80)
            #expect(throws: Never.self) { try source.readRows(5, into: &taken, bytesPerRow: 16) }
            #expect(throws: WebImageError(.badImageData, "")) { try assemble(source, size: size) }
        }
    }
}

@Suite(.tags(.addressSanitizer)) struct PixelKernelTests {
    /// x * y / 255, rounded.
    private func product(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * y * 2 + 255) / 510) }

    @Test func `Premultiplying rounds every colour and alpha exactly`() {
        for alpha in 0...255 {
            var rgba: [UInt8] = []
            var expected: [UInt8] = []
            for color in 0...255 {
                rgba += [UInt8(color), UInt8(255 - color), UInt8(color / 2), UInt8(alpha)]
                expected += [
                    product(color / 2, alpha), product(255 - color, alpha), product(color, alpha), UInt8(alpha),
                ]
            }
            var bgra = [UInt8](repeating: 0, count: rgba.count)
            cpixels_premultiply_rgba_to_bgra(rgba, &bgra, 256)
            #expect(bgra == expected)
        }
    }

    @Test func `CMYK is converted as in Pillow's formula`() {
        for black in stride(from: 0, through: 255, by: 5) {
            let paper = 255 - black
            var cmyk: [UInt8] = []
            var expected: [UInt8] = []
            for cyan in 0...255 {
                cmyk += [UInt8(cyan), 0, 255, UInt8(black)]
                expected += [UInt8(paper) - product(cyan, paper), UInt8(paper), 0]
            }
            var rgb = [UInt8](repeating: 9, count: 256 * 3)
            cpixels_cmyk_to_rgb(cmyk, &rgb, 256)
            #expect(rgb == expected)
        }
    }
}
