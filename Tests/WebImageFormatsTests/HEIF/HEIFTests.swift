import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage
@testable import WebImageHEIF

@Suite struct HEIFTests {
    private let files = FormatFixture(coder: HEIFCoder(), folder: "HEIF", ending: "heic")
    private static let stills = Fixtures.names(in: "HEIF", ending: "pam")

    @Test(arguments: stills)
    func `Pixels of HEIC are those of the reference`(name: String) throws {
        let found = try files.difference(files.decode(name), name)
        #expect(found.maximum <= 2 && found.mean <= 0.5, "\(found)")
    }

    @Test func `All fixtures of HEIC were found`() { #expect(Self.stills.count == 22) }

    @Test func `HEIC without loss is what went in`() throws {
        let found = try files.difference(files.decode("lossless"), "lossless")
        #expect(found.maximum == 0, "\(found)")
        let clear = try files.difference(files.decode("lossless-alpha"), "lossless-alpha")
        #expect(clear.maximum == 0, "\(clear)")
    }

    @Test func `Headers of HEIC tell alpha, bits and profile`() throws {
        #expect(try !files.properties("420").hasAlpha)
        #expect(try files.properties("alpha").hasAlpha)
        #expect(try files.properties("10bit").bitsPerComponent == 10)
        #expect(try files.properties("icc-wide").colorProfile == "Test wide RGB")
        #expect(try files.properties("display-p3").colorProfile == "Display P3")
        let turned = try files.properties("orientation-6")
        #expect(turned.orientation == .up && [turned.width, turned.height] == [20, 32])
    }

    @Test func `Decode options of HEIC`() throws {
        try files.checkOptions(opaque: "420", alpha: "alpha")
        var options = ImageDecodeOptions()
        options.limits.maximumColorProfileByteCount = 100
        let ignored = try files.decode("icc-wide", options)
        #expect(try ignored.bitmap.components != (files.decode("icc-wide")).bitmap.components)
    }

    @Test(arguments: ["420", "alpha", "10bit", "orientation-6"])
    func `Truncated HEIC is an error`(name: String) throws { try files.truncate(name) }

    @Test(arguments: ["420", "alpha", "10bit", "orientation-6", "icc-wide"])
    func `Random damage of HEIC never traps`(name: String) throws { try files.corrupt(name, seeds: 0..<40) }

    @Test func `A sequence without a still picture is an error`() throws {
        let data = try Fixtures.data("HEIF/sequence.heics")
        #expect(files.coder.canDecode(data))
        #expect(files.error(data)?.code == .badImageData)
    }

    @Test func `A picture that is bigger than its boxes say is refused before it is decoded`() throws {
        var options = ImageDecodeOptions()
        // The boxes of this one are made to say 8x8; its codec's header stays.
        var data = try files.data("420")
        for range in data.ranges(of: Data("ispe".utf8)) {
            data.replaceSubrange(range.upperBound + 4..<range.upperBound + 12, with: [0, 0, 0, 8, 0, 0, 0, 8])
        }
        options.limits.maximumPixelCount = 100
        #expect(files.error(data, options)?.limit?.name == "maximumPixelCount")
    }

    @Test func `HEIC is written with and without loss if there is an encoder`() throws {
        guard files.coder.canEncode(to: .heic) else { return }
        try files.checkEncoding(.heic, lossy: 2.5)
    }

    @Test func `Only HEIC is taken for HEIC`() throws {
        #expect(try files.coder.canDecode(files.data("420")))
        #expect(try !files.coder.canDecode(Data()) && !files.coder.canDecode(Fixtures.data("AVIF/420.avif")))
        #expect(files.error(Data())?.code == .badImageData)
    }
}
