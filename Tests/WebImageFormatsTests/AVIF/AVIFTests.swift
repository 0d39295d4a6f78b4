import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageAVIF

@Suite(.tags(.addressSanitizer)) struct AVIFTests {
    private let files = FormatFixture(coder: AVIFCoder(), folder: "AVIF", ending: "avif")
    private static let stills = Fixtures.names(in: "AVIF", ending: "pam").filter {
        !$0.contains(".") || $0 == "gamma-2.2"
    }
    private static let exact = ["lossless", "one-pixel", "crop-turned", "turn-", "exif-6"]

    @Test(arguments: stills)
    func `Pixels of AVIF are those of the reference`(name: String) throws {
        let found = try files.difference(files.decode(name), name)
        if name == "crop" || Self.exact.contains(where: { name.hasPrefix($0) }) {
            #expect(found.maximum == 0, "\(found)")
        } else {
            #expect(found.maximum <= 2 && found.mean <= 0.5, "\(found)")
        }
    }

    @Test func `All fixtures of AVIF were found`() { #expect(Self.stills.count == 37) }

    @Test func `Headers of AVIF report alpha, bits, profile, crop and orientation`() throws {
        #expect(try !files.properties("420").hasAlpha)
        #expect(try files.properties("alpha").hasAlpha)
        #expect(try files.properties("10bit-420").bitsPerComponent == 10)
        #expect(try files.properties("12bit-422-limited").bitsPerComponent == 12)
        #expect(try files.properties("icc-wide").colorProfile == "Test wide RGB")
        #expect(try files.properties("display-p3").colorProfile == "Display P3")
        #expect(try files.properties("420").colorProfile == nil)
        let cropped = try files.properties("crop-turned")
        #expect([cropped.width, cropped.height] == [26, 20])
        #expect(cropped.orientation == .left)
        #expect(try files.decode("crop-turned").pixelWidth == 20)
        #expect(try files.properties("turn-1-0").orientation == .leftMirrored)
        #expect(try files.properties("turn-2-1").orientation == .downMirrored)
    }

    @Test func `The alpha of tiles is the alpha of the image`() throws {
        let data = try Fixtures.data("AVIF/grid-of-alphas.avif")
        #expect(try files.properties("grid-of-alphas").hasAlpha)
        #expect(try files.difference(files.decode("grid-of-alphas"), "grid-of-alphas").maximum <= 2)
        // For any truncation or damage there is a result.
        for part in DamagedFiles.truncations(of: data) {
            #expect(DamagedFiles.complaint(of: AVIFCoder(), about: part) == nil)
        }
        for damaged in DamagedFiles.corruptions(of: data) {
            #expect(DamagedFiles.complaint(of: AVIFCoder(), about: damaged) == nil)
        }
    }

    @Test func `A depth track is not used as alpha`() throws {
        var data = try Fixtures.data("AVIF/sequence-alpha.avif")
        // Names of one length.
        let alpha = Array("systems:auxiliary:alpha".utf8)
        let places = data.ranges(of: alpha)
        #expect(!places.isEmpty)
        for place in places { data.replaceSubrange(place, with: "systems:auxiliary:depth".utf8) }
        let properties = try AVIFCoder().properties(of: data, limits: ImageLimits())
        #expect(!properties.hasAlpha && properties.frameCount == 3)
        let animation = try AVIFCoder().animation(of: data, options: ImageDecodeOptions())
        for index in 0..<3 {
            let image = try animation.frame(at: index)
            #expect(!image.hasAlpha)
            let expected = try Fixtures.pixels("AVIF/sequence-alpha.\(index).pam")
            var most = 0
            for y in 0..<image.pixelHeight {
                for x in 0..<image.pixelWidth {
                    let found = image.bitmap.premultipliedRGBA(x: x, y: y)
                    for channel in 0..<3 {
                        most = max(most, abs(Int(found[channel]) - Int(expected.rgba(x: x, y: y)[channel])))
                    }
                }
            }
            #expect(most <= 2, "frame \(index)")
        }
    }

    @Test func `A file whose item list has no end is decoded`() throws {
        let data = try Fixtures.data("AVIF/420.avif")
        let boxes = data.withUnsafeBytes { bytes in ISOBox.boxes(in: ByteReader(bytes), 0..<bytes.count) }
        let meta = try #require(boxes.first { $0.type == fourCC("meta") })
        // A copy of the list at the end of the file, in place of the first, without a length: offsets in the file stay
        // correct.
        var open = data
        open.replaceSubrange(meta.content.lowerBound - 4..<meta.content.lowerBound, with: "free".utf8)
        open += [0, 0, 0, 0] + Data("meta".utf8) + data[meta.content]
        let image = try AVIFCoder().decode(open, options: ImageDecodeOptions())
        #expect(try files.difference(image, "420").maximum <= 2)
    }

    @Test func `Headers of AVIF sequences report frames, durations and loops`() throws {
        let sequence = try files.properties("sequence")
        #expect(sequence.frameCount == 7)
        #expect(sequence.frameDurations == [0.07, 0.1, 0.9, 0.1, 0.04, 0.12, 1])
        #expect(sequence.loopCount == 0)
        #expect(try files.properties("sequence-alpha").hasAlpha)
        let still = try files.properties("420")
        #expect(still.frameCount == 1 && still.frameDurations.isEmpty && still.loopCount == 0)
    }

    @Test func `Frames of AVIF sequences are those of the reference in any order`() throws {
        try files.checkFrames("sequence", count: 7, most: 2, mean: 0.5)
        try files.checkFrames("sequence-alpha", count: 3, most: 2, mean: 0.5)
    }

    @Test func `Frames of AVIF sequences obey the decode options`() throws {
        try files.checkAnimationOptions("sequence", count: 7)
        let still = try files.animation("alpha")
        #expect(still.frameCount == 1 && still.duration(at: 0) == 0)
        #expect(try still.frame(at: 0).bitmap.components == files.decode("alpha").bitmap.components)
    }

    @Test func `Frames of AVIF sequences may be requested from several threads`() async throws {
        try await files.checkConcurrency("sequence", count: 7)
    }

    @Test func `Decode options of AVIF`() throws {
        try files.checkOptions(opaque: "420", alpha: "alpha")
        try files.checkEncodedLimit("420")
        try files.checkEncodedLimit("sequence")
        var options = ImageDecodeOptions()
        options.limits.maximumColorProfileByteCount = 100
        let ignored = try files.decode("icc-wide", options)
        #expect(try ignored.bitmap.components != (files.decode("icc-wide")).bitmap.components)
    }

    @Test func `The memory that libavif decodes into is within the limit too`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 4, height: 4)
        // Half as many bytes of chroma as of luma; with 10 bits and alpha four planes of two bytes.
        for (name, bytesPerTwoPixels) in [("420", 3), ("444", 6), ("alpha-10bit", 16)] {
            let size = try files.properties(name)
            // And dav1d's block data.
            let blocks = size.width * size.height * 3 / 4
            options.limits.maximumDecodedByteCount = size.width * size.height * bytesPerTwoPixels / 2 + blocks
            #expect(try files.error(files.data(name), options) == nil)
            options.limits.maximumDecodedByteCount -= 1
            #expect(try files.error(files.data(name), options)?.limit?.name == "maximumDecodedByteCount")
        }
    }

    @Test(arguments: ["tall-420", "tall-alpha"])
    func `Rows made in bands equal those made at once`(name: String) throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 29, height: 149)
        options.preserveAspectRatio = false
        let whole = try files.decode(name)
        let resized = try Resampler.resize(whole.bitmap, width: 29, height: 149)
        #expect(try files.decode(name, options).bitmap.components == resized.components)
        // With alpha all rows are made at once, without it in bands: their colours agree where nothing is transparent.
        #expect(whole.pixelHeight == 150)
    }

    @Test(arguments: ["420", "alpha", "grid", "sequence", "icc-wide", "crop-turned"])
    func `Truncated AVIF is an error`(name: String) throws { try files.truncate(name) }

    @Test(arguments: ["420", "alpha", "grid", "sequence-alpha", "12bit-422-limited"])
    func `Random damage of AVIF never traps`(name: String) throws { try files.corrupt(name, seeds: 0..<40) }

    @Test func `AVIF is written with and without loss`() throws {
        try files.checkEncoding(.avif, lossy: 1.5)
        var options = ImageEncodeOptions()
        #expect(AVIFCoder.quantizer(options) == 0)
        options.compressionQuality = 0
        #expect(AVIFCoder.quantizer(options) == 63)
        options.isLossless = true
        #expect(AVIFCoder.quantizer(options) == 0)
    }

    @Test func `Only AVIF is taken for AVIF`() throws {
        #expect(try files.coder.canDecode(files.data("420")) && files.coder.canDecode(files.data("sequence")))
        #expect(try !files.coder.canDecode(Data()) && !files.coder.canDecode(Fixtures.data("PNG/photo-rgb.png")))
        #expect(files.error(Data())?.code == .badImageData)
    }
}
