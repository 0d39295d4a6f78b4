import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct GIFEncodingTests {
    private let coder = GIFCoder()

    private func roundTrip(_ bitmap: Bitmap, _ options: ImageEncodeOptions = .init()) throws -> Bitmap {
        let data = try coder.encode(Image(bitmap: bitmap), to: .gif, options: options)
        return try coder.decode(data, options: ImageDecodeOptions()).bitmap
    }

    /// An image of exactly this number of colours, unordered.
    private func image(_ colors: Int, _ width: Int = 60, _ height: Int = 50, clear: Bool = false) throws -> Bitmap {
        var generator = SeededGenerator(seed: UInt64(colors))
        return try .make(width, height) { x, y in
            let position = y * width + x
            let number = position < colors ? position : Int.random(in: 0..<colors, using: &generator)
            if clear, position >= colors, Bool.random(using: &generator) { return [0, 0, 0, 0] }
            return [UInt8(number & 255), UInt8(number * 7 & 255), UInt8(number >> 4 & 255), 255]
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 16, 17, 128, 129, 255, 256])
    func `Up to 256 colours are stored exactly`(colors: Int) throws {
        let bitmap = try image(colors)
        #expect(try roundTrip(bitmap).pixels == bitmap.pixels)
    }

    @Test(arguments: [1, 2, 4, 127, 128, 255])
    func `With transparent pixels, up to 255 colours are stored exactly`(colors: Int) throws {
        let bitmap = try image(colors, clear: true)
        #expect(try roundTrip(bitmap).pixels == bitmap.pixels)
    }

    @Test(arguments: [(1, 1), (1, 9), (300, 1), (3, 400), (257, 33)])
    func `Any size is read back`(width: Int, height: Int) throws {
        let bitmap = try image(min(width * height, 200), width, height)
        #expect(try roundTrip(bitmap).pixels == bitmap.pixels)
    }

    @Test func `Long runs and noise fill and empty the table of codes`() throws {
        var generator = SeededGenerator(seed: 3)
        for kind in 0..<3 {
            let bitmap = try Bitmap.make(256, 200) { x, y in
                let value = kind == 0 ? 0 : kind == 1 ? UInt8.random(in: 0...255, using: &generator) : UInt8(x & 3)
                return [value, value, value, 255]
            }
            #expect(try roundTrip(bitmap).pixels == bitmap.pixels)
        }
    }

    @Test func `Many colours are reduced to the best 256`() throws {
        let photo = try PNGCoder().decode(Fixtures.data("PNG/photo-rgb.png"), options: ImageDecodeOptions()).bitmap
        let expected = try Fixtures.pixels("PNG/photo-rgb.pam")
        let copy = try roundTrip(photo)
        // With the same dithering Pillow's best palette gives 29.8 dB, and ffmpeg's 30.4.
        let difference = PixelDifference(copy, expected)
        #expect(difference.psnr > 30.4, "\(difference)")
        var colors = Set<[UInt8]>()
        for y in 0..<copy.height { for x in 0..<copy.width { colors.insert(copy.premultipliedRGBA(x: x, y: y)) } }
        #expect(colors.count <= 256 && colors.count > 200)
    }

    @Test func `The mean of an area is kept`() throws {
        // A gradient of 60 000 colours.
        let bitmap = try Bitmap.make(300, 200) { x, y in [UInt8(x * 255 / 300), UInt8(y), UInt8((x + y) / 2), 255] }
        let copy = try roundTrip(bitmap)
        for left in stride(from: 0, to: 300, by: 30) {
            for top in stride(from: 0, to: 200, by: 20) {
                for channel in 0..<3 {
                    var sums = (0, 0)
                    for y in top..<top + 20 {
                        for x in left..<left + 30 {
                            sums.0 += Int(bitmap.premultipliedRGBA(x: x, y: y)[channel])
                            sums.1 += Int(copy.premultipliedRGBA(x: x, y: y)[channel])
                        }
                    }
                    #expect(abs(sums.0 - sums.1) <= 600 * 2, "\(left) \(top): \(sums)")
                }
            }
        }
    }

    @Test func `Only changed pixels are stored`() throws {
        let frames = try (0..<5).map { index in
            let bitmap = try Bitmap.make(100, 80) { x, y in
                let isDot = (index * 10..<index * 10 + 4).contains(x) && (20..<24).contains(y)
                return isDot ? [0, 0, 255, 255] : [UInt8(x), UInt8(y), 0, 255]
            }
            return ImageFrame(image: Image(bitmap: bitmap), duration: 0.1)
        }
        let sequence = try #require(ImageFrameSequence(frames: frames))
        let data = try coder.encode(sequence, to: .gif, options: ImageEncodeOptions())
        let structure = try data.withBytes { (bytes) throws(WebImageError) in try GIFStructure(bytes, frameLimit: 9) }
        #expect(structure.frames.map(\.width) == [100, 14, 14, 14, 14])
        #expect(structure.frames.map(\.height) == [80, 4, 4, 4, 4])
        #expect(structure.frames.map(\.left) == [0, 0, 10, 20, 30])
    }

    @Test func `A frame that clears pixels is cleared with the one before`() throws {
        let frames = try (0..<3).map { index in
            ImageFrame(
                image: Image(bitmap: try .make(20, 10) { x, _ in x / 5 == index ? [9, 9, 9, 255] : [0, 0, 0, 0] }),
                duration: 0.1
            )
        }
        let sequence = try #require(ImageFrameSequence(frames: frames))
        let data = try coder.encode(sequence, to: .gif, options: ImageEncodeOptions())
        let structure = try data.withBytes { (bytes) throws(WebImageError) in try GIFStructure(bytes, frameLimit: 9) }
        #expect(structure.frames.map(\.disposal) == [2, 2, 1])
        #expect(structure.frames.map(\.width) == [20, 5, 5])
    }

    @Test func `Frames share the colours of the first where they can`() throws {
        func sequence(_ colors: [UInt8]) throws -> ImageFrameSequence {
            let frames = try colors.map { color in
                ImageFrame(
                    image: Image(bitmap: try .make(4, 4) { x, _ in [x == 0 ? color : 7, 0, 0, 255] }),
                    duration: 0.1
                )
            }
            return try #require(ImageFrameSequence(frames: frames))
        }
        func palettes(_ colors: [UInt8]) throws -> Int {
            let data = try coder.encode(sequence(colors), to: .gif, options: ImageEncodeOptions())
            let structure = try data.withBytes { (bytes) throws(WebImageError) in
                try GIFStructure(bytes, frameLimit: 9)
            }
            return Set(structure.frames.map(\.palette)).count
        }
        #expect(try palettes([1, 7, 1]) == 1)
        #expect(try palettes([1, 2, 3]) == 3)
    }

    @Test func `An image that is too long is an error that names the limit`() throws {
        let bitmap = try Bitmap.allocate(width: 65_536, height: 1, pixelFormat: .rgb8)
        let error = #expect(throws: WebImageError.self) {
            try coder.encode(Image(bitmap: bitmap), to: .gif, options: ImageEncodeOptions())
        }
        #expect(error?.limit?.allowed == 65_535)
    }

    @Test func `The encoder writes only GIF`() throws {
        #expect(coder.canEncode(to: .gif) && !coder.canEncode(to: .png) && coder.canEncodeAnimation(to: .gif))
        let error = #expect(throws: WebImageError.self) {
            try coder.encode(.tiny(), to: .png, options: ImageEncodeOptions())
        }
        #expect(error?.code == .unsupportedFormat)
    }
}
