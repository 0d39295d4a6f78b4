import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageJPEGXL

@Suite(.tags(.addressSanitizer)) struct JPEGXLTests {
    private let files = FormatFixture(coder: JPEGXLCoder(), folder: "JPEGXL", ending: "jxl")
    private static let stills = Fixtures.names(in: "JPEGXL", ending: "pam").filter { !$0.contains(".") }

    @Test(arguments: stills)
    func `Pixels of JPEG XL are those of the reference`(name: String) throws {
        let found = try files.difference(files.decode(name), name)
        if name.hasPrefix("lossless") || name.hasPrefix("orientation") || name == "one-pixel" {
            // Unpremultiplying rounds.
            #expect(found.maximum <= (name == "lossless-premultiplied" ? 1 : 0), "\(found)")
        } else {
            #expect(found.maximum <= 2 && found.mean <= 0.5, "\(found)")
        }
    }

    @Test func `All fixtures of JPEG XL were found`() { #expect(Self.stills.count == 28) }

    @Test func `Headers of JPEG XL report alpha, bits, profile and orientation`() throws {
        #expect(try !files.properties("lossy").hasAlpha)
        #expect(try files.properties("lossy-alpha").hasAlpha)
        #expect(try files.properties("lossless-16bit").bitsPerComponent == 16)
        #expect(try files.properties("lossless").bitsPerComponent == 8)
        #expect(try files.properties("icc-lossless").colorProfile == "Test wide RGB")
        #expect(try files.properties("icc-lossy").colorProfile == "Test wide RGB")
        #expect(try files.properties("display-p3").colorProfile == "Display P3")
        #expect(try files.properties("lossy").colorProfile == nil)
        for number in 1...8 {
            let properties = try files.properties("orientation-\(number)")
            #expect(properties.orientation.rawValue == number)
            #expect([properties.width, properties.height] == [13, 9])
            #expect(try files.decode("orientation-\(number)").metadata.sourceOrientation.rawValue == number)
        }
    }

    @Test func `Headers of animated JPEG XL report frames, durations and loops`() throws {
        let animated = try files.properties("animated")
        #expect(animated.frameCount == 5)
        #expect(animated.frameDurations == [0.07, 0.1, 0.9, 0.1, 0.04])
        #expect(animated.loopCount == 0)
        let loops = try files.properties("animated-loops")
        #expect(loops.loopCount == 3 && loops.frameDurations == [0.2, 0.2])
        #expect(try files.animation("animated-loops").loopCount == 3)
        let still = try files.properties("lossy")
        #expect(still.frameCount == 1 && still.frameDurations.isEmpty && still.loopCount == 0)
    }

    @Test func `Frames of animated JPEG XL are those of the reference in any order`() throws {
        try files.checkFrames("animated", count: 5, most: 0, mean: 0)
        try files.checkFrames("animated-blended", count: 4, most: 2, mean: 0.5)
        try files.checkFrames("animated-lossy", count: 3, most: 2, mean: 0.5)
    }

    @Test func `Frames of animated JPEG XL obey the decode options`() throws {
        try files.checkAnimationOptions("animated", count: 5)
        let still = try files.animation("lossy")
        #expect(still.frameCount == 1 && still.duration(at: 0) == 0)
        #expect(try still.frame(at: 0).bitmap.components == files.decode("lossy").bitmap.components)
    }

    @Test func `Frames of animated JPEG XL may be requested from several threads`() async throws {
        try await files.checkConcurrency("animated-blended", count: 4)
    }

    @Test func `Decode options of JPEG XL`() throws {
        try files.checkOptions(opaque: "lossless", alpha: "lossy-alpha")
        try files.checkEncodedLimit("lossy")
        var options = ImageDecodeOptions()
        options.limits.maximumColorProfileByteCount = 100
        let ignored = try files.decode("icc-lossless", options)
        #expect(try ignored.bitmap.components != (files.decode("icc-lossless")).bitmap.components)
        #expect(ignored.metadata.colorProfile == nil)
    }

    @Test(arguments: ["lossy", "lossless-alpha", "container", "animated", "icc-lossy"])
    func `Truncated JPEG XL is an error`(name: String) throws { try files.truncate(name) }

    @Test(arguments: ["lossy", "lossless-alpha", "container", "animated-blended", "icc-lossless"])
    func `Random damage of JPEG XL never traps`(name: String) throws { try files.corrupt(name, seeds: 0..<40) }

    @Test func `The memory of libjxl is within the limit too`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 4, height: 4)
        let size = try files.properties("lossless-alpha")
        options.limits.maximumDecodedByteCount = size.width * size.height * 16 - 1
        #expect(try files.error(files.data("lossless-alpha"), options)?.limit?.name == "maximumDecodedByteCount")
        options.limits.maximumDecodedByteCount += 1
        #expect(try files.error(files.data("lossless-alpha"), options) == nil)
        // For XYB no header gives the amount; the maximum measured counts, and alpha.
        for (name, bytes) in [
            ("lossy", 20), ("lossy-modular", 20), ("progressive", 20), ("lossy-alpha", 24), ("animated-lossy", 20),
        ] {
            let size = try files.properties(name)
            options.limits.maximumDecodedByteCount = size.width * size.height * bytes - 1
            #expect(try files.error(files.data(name), options)?.limit?.name == "maximumDecodedByteCount", "\(name)")
            // The header may still be read.
            #expect(try files.coder.properties(of: files.data(name), limits: options.limits) == size)
            options.limits.maximumDecodedByteCount += 1
            #expect(try files.error(files.data(name), options) == nil, "\(name)")
        }
    }

    @Test func `JPEG XL is written with and without loss`() throws {
        try files.checkEncoding(.jpegXL, lossy: 2)
        #expect(JPEGXLCoder.distance(quality: 1) == 0.1)
        #expect(abs(JPEGXLCoder.distance(quality: 0.9) - 1) < 0.001)
        #expect(JPEGXLCoder.distance(quality: 0) == 25)
    }

    @Test func `Only JPEG XL is taken for JPEG XL`() throws {
        #expect(
            try files.coder.canDecode(files.data("lossy")) && files.coder.canDecode(files.data("container"))
        )
        #expect(try !files.coder.canDecode(Data()) && !files.coder.canDecode(Fixtures.data("PNG/photo-rgb.png")))
        #expect(files.error(Data())?.code == .badImageData)
        #expect(files.error(Data([0xFF, 0x0A]))?.code == .badImageData)
    }
}
