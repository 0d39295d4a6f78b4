import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageSVG

@Suite(.tags(.addressSanitizer)) struct SVGDecodingTests {
    private let coder = SVGCoder.inProcess

    private func decode(_ name: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try coder.decode(Fixtures.data("SVG/\(name).svg"), options: options)
    }

    private func document(_ attributes: String) -> Data {
        Data("<svg xmlns='http://www.w3.org/2000/svg' \(attributes)><rect width='9' height='9'/></svg>".utf8)
    }

    private static let files = Fixtures.names(in: "SVG", ending: "svg")

    @Test(arguments: files)
    func `A document is drawn at its own size as another program draws it`(name: String) throws {
        let image = try decode(name)
        // librsvg 2.63 draws a nested document at its size there, and not at its own, which is then enlarged.
        let references = name == "embedded-svg" ? [name, "embedded-svg-sharp"] : [name]
        let differences = try references.map { PixelDifference(image.bitmap, try Fixtures.pixels("SVG/\($0).pam")) }
        #expect(differences.contains { $0.maximum <= 3 && $0.mean <= 0.5 }, "\(differences)")
        let properties = try coder.properties(of: Fixtures.data("SVG/\(name).svg"), limits: ImageLimits())
        #expect((properties.width, properties.height) == (image.pixelWidth, image.pixelHeight))
        #expect(properties.format == .svg && properties.hasAlpha && image.hasAlpha)
        #expect(image.metadata.isVector && image.format == .svg && !image.metadata.isThumbnail)
        #expect(image.metadata.frameCount == 1 && image.orientation == .up)
    }

    @Test func `All fixtures were found`() { #expect(Self.files.count >= 11) }

    @Test(arguments: [
        ("shapes", 120, 90, "shapes-120x90"), ("shapes", 30, 30, "shapes-30x30"),
        ("no-view-box", 90, 90, "no-view-box-90x90"),
        ("view-box-only", 30, 30, "view-box-only-30x30"),
    ])
    func `A thumbnail is drawn at the requested size, bigger or smaller, and keeps its aspect ratio`(
        name: String,
        width: Int,
        height: Int,
        expected: String
    ) throws {
        let image = try decode(name) { $0.thumbnailPixelSize = ImageSize(width: width, height: height) }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("SVG/\(expected).pam"))
        #expect(difference.maximum <= 2 && difference.mean <= 0.5, "\(difference)")
        #expect(image.metadata.isThumbnail && image.metadata.isVector)
        #expect(image.metadata.sourceWidth == 60 && image.metadata.sourceHeight == 40)
    }

    @Test func `A thumbnail that covers a box keeps its aspect ratio and is as big as necessary`() throws {
        let image = try decode("shapes") {
            $0.thumbnailPixelSize = ImageSize(width: 90, height: 90)
            $0.thumbnailCovers = true
        }
        #expect((image.pixelWidth, image.pixelHeight) == (135, 90) && image.metadata.isThumbnail)
        let fitted = try decode("shapes") { $0.thumbnailPixelSize = ImageSize(width: 135, height: 90) }
        #expect(image.premultipliedPixels == fitted.premultipliedPixels)
    }

    @Test(arguments: [("shapes", 45, 70), ("no-view-box", 25, 50)])
    func `Without its aspect ratio it fills the box`(name: String, width: Int, height: Int) throws {
        let image = try decode(name) {
            $0.thumbnailPixelSize = ImageSize(width: width, height: height)
            $0.preserveAspectRatio = false
        }
        #expect((image.pixelWidth, image.pixelHeight) == (width, height))
        // rsvg-convert lets the document's preserveAspectRatio put it into the middle; here it is stretched.
        guard name == "shapes" else { return }
        let plain = try decode(name)
        let wide = image.bitmap.premultipliedRGBA(x: 10 * 45 / 60, y: 10 * 70 / 40)
        for (a, b) in zip(wide, plain.bitmap.premultipliedRGBA(x: 10, y: 10)) { #expect(abs(Int(a) - Int(b)) < 20) }
        #expect(image.bitmap.premultipliedRGBA(x: 0, y: 0)[3] == 0)
    }

    @Test(arguments: [
        ("", 300, 150), ("width='50%' height='20%'", 300, 150), ("width='40'", 40, 150), ("height='40'", 300, 40),
        ("viewBox='0 0 30 60'", 30, 60), ("width='40' viewBox='0 0 30 60'", 40, 80),
        ("width='1in' height='72pt'", 96, 96),
        ("height='30' viewBox='0 0 30 60'", 15, 30), ("width='100%' height='30' viewBox='0 0 30 60'", 15, 30),
        ("width='10.2' height='0.4'", 11, 1), ("width='2em' height='2pc' font-size='10'", 20, 32),
        ("width='30' height='30' viewBox='0 0 0 0'", 30, 30),
    ])
    func `The size is determined by width, height and view box`(attributes: String, width: Int, height: Int) throws {
        let properties = try coder.properties(of: document(attributes), limits: ImageLimits())
        #expect((properties.width, properties.height) == (width, height))
    }

    @Test func `A document without size is an error`() throws {
        for attributes in ["width='0' height='10'", "width='10' height='0'"] {
            let error = #expect(throws: WebImageError.self) { try coder.decode(document(attributes), options: .init()) }
            #expect(error?.code == .badImageData)
        }
    }

    @Test func `Limits apply to the drawn size`() throws {
        let huge = document("width='100000' height='50000'")
        for data in [huge, document("width='90000000000' height='1'")] {
            let error = #expect(throws: WebImageError.self) { try coder.decode(data, options: .init()) }
            #expect(error?.limit?.name == "maximumSideLength")
            #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: ImageLimits()) }
        }
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        let small = try coder.decode(huge, options: options)
        #expect((small.pixelWidth, small.pixelHeight) == (20, 10))
        options.thumbnailPixelSize = ImageSize(width: 60_000, height: 60_000)
        let error = #expect(throws: WebImageError.self) { try coder.decode(document(""), options: options) }
        #expect(error?.code == .limitExceeded)
        options.thumbnailPixelSize = ImageSize(width: 32_767, height: 10)
        options.preserveAspectRatio = false
        #expect(try coder.decode(document(""), options: options).pixelWidth == 32_767)
        options.thumbnailPixelSize = ImageSize(width: 32_768, height: 10)
        #expect(throws: WebImageError.self) { try coder.decode(document(""), options: options) }
        options = ImageDecodeOptions()
        options.limits.maximumDecodedByteCount = 60 * 40 * 4 - 1
        let bytes = #expect(throws: WebImageError.self) {
            try coder.decode(Fixtures.data("SVG/shapes.svg"), options: options)
        }
        #expect(bytes?.limit?.name == "maximumDecodedByteCount")
    }

    @Test func `A byte limit scales it down, also an enlarged one`() throws {
        let limited = try decode("shapes") { $0.scaleDownLimitBytes = 4 * 30 * 20 }
        #expect((limited.pixelWidth, limited.pixelHeight) == (30, 20))
        #expect(limited.metadata.scaleDownLimitBytes == 4 * 30 * 20 && !limited.metadata.isThumbnail)
        let both = try decode("shapes") {
            $0.thumbnailPixelSize = ImageSize(width: 600, height: 400)
            $0.scaleDownLimitBytes = 4 * 90 * 60
        }
        #expect((both.pixelWidth, both.pixelHeight) == (90, 60))
    }

    @Test func `The other options apply, too`() throws {
        let points = try decode("shapes") { $0.scaleFactor = 2 }
        #expect(points.size == ImageSize(width: 30, height: 20) && points.pixelWidth == 60)
        // Alpha is never dropped.
        #expect(try decode("shapes") { $0.pixelFormat = .rgb8 }.bitmap.pixelFormat == .bgra8Premultiplied)
        let first = try decode("shapes") { $0.decodeFirstFrameOnly = true }
        #expect(PixelDifference(first.bitmap, try Fixtures.pixels("SVG/shapes.pam")).maximum <= 2)
    }

    @Test func `SVG is not encoded`() {
        #expect(!coder.canEncode(to: .svg))
        #expect(throws: WebImageError.self) { try coder.encode(.tiny(), to: .svg, options: .init()) }
    }
}
