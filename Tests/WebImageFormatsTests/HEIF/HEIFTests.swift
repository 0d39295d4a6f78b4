import CHEIF
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHEIF

@Suite(.tags(.addressSanitizer)) struct HEIFTests {
    private let files = FormatFixture(coder: HEIFCoder(), folder: "HEIF", ending: "heic")
    private static let stills = Fixtures.names(in: "HEIF", ending: "pam")

    @Test(arguments: stills)
    func `Pixels of HEIC are those of the reference`(name: String) throws {
        let found = try files.difference(files.decode(name), name)
        #expect(found.maximum <= 3 && found.mean <= 0.5, "\(found)")
    }

    @Test func `All fixtures of HEIC were found`() { #expect(Self.stills.count == 22) }

    @Test func `Lossless HEIC is read back exactly`() throws {
        let found = try files.difference(files.decode("lossless"), "lossless")
        #expect(found.maximum == 0, "\(found)")
        let clear = try files.difference(files.decode("lossless-alpha"), "lossless-alpha")
        #expect(clear.maximum == 0, "\(clear)")
    }

    @Test func `Headers of HEIC report alpha, bits and profile`() throws {
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
        try files.checkEncodedLimit("420")
        var options = ImageDecodeOptions()
        options.limits.maximumColorProfileByteCount = 100
        let ignored = try files.decode("icc-wide", options)
        #expect(try ignored.bitmap.components != (files.decode("icc-wide")).bitmap.components)
    }

    @Test(arguments: ["420", "alpha", "10bit", "orientation-6"])
    func `Truncated HEIC is an error`(name: String) throws { try files.truncate(name) }

    @Test(arguments: ["420", "alpha", "10bit", "orientation-6", "icc-wide"])
    func `Random damage of HEIC never traps`(name: String) throws { try files.corrupt(name, seeds: 0..<40) }

    @Test func `A sequence without a still image is an error`() throws {
        let data = try Fixtures.data("HEIF/sequence.heics")
        #expect(files.coder.canDecode(data))
        #expect(files.error(data)?.code == .badImageData)
    }

    @Test func `An image bigger than its boxes claim is refused before it is decoded`() throws {
        var options = ImageDecodeOptions()
        // The boxes of this one are set to 8x8; its codec's header stays.
        var data = try files.data("420")
        for range in data.ranges(of: Data("ispe".utf8)) {
            data.replaceSubrange(range.upperBound + 4..<range.upperBound + 12, with: [0, 0, 0, 8, 0, 0, 0, 8])
        }
        options.limits.maximumPixelCount = 100
        #expect(files.error(data, options)?.limit?.name == "maximumPixelCount")
    }

    private static let hasEncoder = HEIFCoder().canEncode(to: .heic)

    @Test(.enabled(if: hasEncoder, "libheif has no encoder"))
    func `HEIC is written with and without loss if there is an encoder`() throws {
        try files.checkEncoding(.heic, lossy: 2.5)
    }

    @Test func `The coder writes HEIC if libheif lists an encoder, and otherwise says so`() throws {
        let image = try PNGCoder().decode(Fixtures.data("PNG/photo-rgb.png"), options: ImageDecodeOptions())
        // Loads libheif's plugins, too.
        let canEncode = files.coder.canEncode(to: .heic)
        let context = try #require(heif_context_alloc())
        defer { heif_context_free(context) }
        var first: OpaquePointer?
        let count = heif_context_get_encoder_descriptors(context, heif_compression_HEVC, nil, &first, 1)
        #expect(canEncode == (count > 0))
        #expect(!files.coder.canEncode(to: .heif) && !files.coder.canEncode(to: .avif))
        do throws(WebImageError) {
            let data = try files.coder.encode(image, to: .heic, options: ImageEncodeOptions())
            #expect(canEncode && ImageFormat(detecting: data) == .heic)
        } catch { #expect(!canEncode && error.code == .unsupportedFormat) }
    }

    @Test(.enabled(if: hasEncoder, "libheif has no encoder"))
    func `The embedded thumbnail is a separate image of at most 160 pixels, if the image is bigger`() throws {
        let source = try PNGCoder().decode(Fixtures.data("PNG/photo-rgba.png"), options: ImageDecodeOptions())
        var options = ImageEncodeOptions()
        for width in [120, 200] {
            let image = Image(bitmap: try Resampler.resize(source.bitmap, width: width, height: width / 2))
            options.encodeEmbedThumbnail = false
            let plain = try files.coder.encode(image, to: .heic, options: options)
            options.encodeEmbedThumbnail = true
            let data = try files.coder.encode(image, to: .heic, options: options)
            // The sizes of the images are properties, and so are the links from thumbnails to images.
            func has(_ width: Int, _ height: Int, _ data: Data) -> Bool {
                let size: [UInt8] = [
                    0, 0, UInt8(width >> 8), UInt8(width & 255), 0, 0, UInt8(height >> 8), UInt8(height & 255),
                ]
                // Newer versions of libheif have the size as coded there, and that of the image where they crop.
                let crop: [UInt8] = size[..<4] + [0, 0, 0, 1] + size[4...] + [0, 0, 0, 1]
                return !data.ranges(of: Data("ispe".utf8) + [0, 0, 0, 0] + size).isEmpty
                    || !data.ranges(of: Data("clap".utf8) + crop).isEmpty
            }
            #expect(has(width, width / 2, data) && has(160, 80, data) == (width == 200) && !has(160, 80, plain))
            #expect(data.ranges(of: Data("thmb".utf8)).isEmpty == (width < 200))
            let copy = try files.coder.decode(data, options: ImageDecodeOptions())
            #expect([copy.pixelWidth, copy.pixelHeight] == [width, width / 2] && copy.hasAlpha)
            #expect(try copy.bitmap.components == files.coder.decode(plain, options: .init()).bitmap.components)
        }
    }

    @Test func `Only HEIC is taken for HEIC`() throws {
        #expect(try files.coder.canDecode(files.data("420")))
        #expect(try !files.coder.canDecode(Data()) && !files.coder.canDecode(Fixtures.data("AVIF/420.avif")))
        #expect(files.error(Data())?.code == .badImageData)
    }
}
