import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct GIFDecodingTests {
    private let coder = GIFCoder()

    private func properties(_ name: String, limits: ImageLimits = .init()) throws -> ImageProperties {
        try coder.properties(of: Fixtures.data("GIF/\(name).gif"), limits: limits)
    }

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    @Test(arguments: Fixtures.names(in: "GIF", ending: "pam"))
    func `Pixels are exactly those of the file`(name: String) throws {
        let image = try coder.decode(Fixtures.data("GIF/\(name).gif"), options: ImageDecodeOptions())
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("GIF/\(name).pam")).maximum == 0)
        let properties = try properties(name)
        #expect(properties.hasAlpha == image.hasAlpha)
        #expect((properties.width, properties.height) == (image.pixelWidth, image.pixelHeight))
    }

    @Test func `Of an animation with too many frames the first can be decoded by itself`() throws {
        let data = try Fixtures.data("GIF/animated.gif")
        var options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 2
        #expect(error(data, options)?.limit?.name == "maximumFrameCount")
        options.decodeFirstFrameOnly = true
        let image = try coder.decode(data, options: options)
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("GIF/animated.pam")).maximum == 0)
        #expect(image.metadata.isFirstFrame)
        let arriving = coder.makeProgressiveDecoder(options: options)
        try arriving.update(data.prefix(data.count / 2), isFinished: false)
        try arriving.update(data, isFinished: true)
        #expect(try arriving.image(maximumPreviewPixelCount: 100)?.metadata.isFirstFrame == true)
    }

    @Test func `All fixtures were found`() { #expect(Fixtures.names(in: "GIF", ending: "pam").count >= 35) }

    @Test func `Frames, durations and loops are reported`() throws {
        let animated = try properties("animated")
        #expect(animated.frameCount == 4)
        #expect(animated.frameDurations == [0.1, 0.1, 0.02, 0.5])
        #expect(animated.loopCount == 2)
        #expect(try properties("animated-imagemagick").frameDurations == [0.07, 0.07, 0.07, 0.07])
        #expect(try properties("animated-gifsicle").frameCount == 4)
        #expect(try properties("loop-netscape-forever").loopCount == 0)
        #expect(try properties("loop-netscape-forever").frameDurations == [0.1, 0.02, 1.5])
        #expect(try properties("loop-animexts-5").loopCount == 5)
        #expect(try properties("loop-absent").loopCount == 1)
        #expect(try properties("without-trailer").frameCount == 3)
        let still = try properties("photo")
        #expect(still.frameCount == 1 && still.loopCount == 0 && still.frameDurations.isEmpty)
    }

    @Test func `An image without pixels or without size is an error`() throws {
        for name in ["no-frame", "empty-frame"] {
            #expect(error(try Fixtures.data("GIF/\(name).gif"))?.code == .badImageData, "\(name)")
        }
    }

    @Test(arguments: ["photo", "photo-interlaced", "small-blocks", "table-full"])
    func `A first frame truncated anywhere is an error`(name: String) throws {
        let data = try Fixtures.data("GIF/\(name).gif")
        // The last bytes are the end code, the empty block and the trailer; pixels may be complete without them.
        for length in TestEffort.some(of: 0..<data.count - 6) {
            #expect(error(data.prefix(length))?.code == .badImageData, "\(length) of \(data.count)")
        }
    }

    @Test func `The first frame is decoded when later ones are truncated`() throws {
        let data = try Fixtures.data("GIF/loop-absent.gif")
        let expected = try Fixtures.pixels("GIF/loop-absent.pam")
        for length in stride(from: data.count * 2 / 3, to: data.count, by: 7) {
            let image = try coder.decode(data.prefix(length), options: ImageDecodeOptions())
            #expect(PixelDifference(image.bitmap, expected).maximum == 0)
        }
    }

    @Test(arguments: ["photo", "animated-gifsicle", "transparent-offset", "table-full", "comment-and-text"])
    func `Random damage never traps`(name: String) throws {
        let original = try Fixtures.data("GIF/\(name).gif")
        var random = SeededGenerator(seed: 43)
        for _ in 0..<300 {
            var data = original
            for _ in 0...Int.random(in: 0..<6, using: &random) {
                data[Int.random(in: 6..<data.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1 << 20
            _ = try? coder.decode(data, options: options)
            _ = try? coder.properties(of: data, limits: options.limits)
        }
    }

    @Test func `A code that is not in the table is an error`() throws {
        // A screen of 2 x 2, two colours, code size 2: clear, then code 7, which is undefined.
        let header: [UInt8] = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 2, 0b111_100, 0, 0, 0x3B]
        #expect(error(Data(header + frame))?.code == .badImageData)
        for size: UInt8 in [0, 9, 255] {
            var data = Data(header + frame)
            data[header.count + 10] = size
            #expect(error(data)?.code == .badImageData)
        }
    }

    @Test func `Sizes are checked for the canvas and for the frame`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 300
        let canvas = error(try Fixtures.data("GIF/noise.gif"), options)
        #expect(canvas?.limit?.name == "maximumPixelCount")
        // 20 x 15 fits; the frame on it is 27 x 21.
        let frame = error(try Fixtures.data("GIF/clipped.gif"), options)
        #expect(frame?.limit?.required == 567)
    }

    @Test func `Too many frames are refused unless only the first is requested`() throws {
        let data = try Fixtures.data("GIF/animated.gif")
        var options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 3
        #expect(error(data, options)?.limit?.name == "maximumFrameCount")
        #expect(throws: WebImageError.self) { try properties("animated", limits: options.limits) }
        options.decodeFirstFrameOnly = true
        #expect(error(data, options) == nil)
        options.limits.maximumFrameCount = 4
        options.decodeFirstFrameOnly = false
        #expect(error(data, options) == nil)
    }

    @Test(arguments: 1...40)
    func `Every line of an interlaced frame is stored once`(height: Int) {
        let lines = (0..<height).map { GIFRowReader.storedLine(of: $0, height: height) }
        #expect(Set(lines) == Set(0..<height))
    }
}
