import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImagePDF

@testable import WebImageIsolation

/// Pages drawn in workers, beside those that pdftoppm draws.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct PDFDecodingTests {
    /// The mean difference, of 255, of two renderers: they cover pixels at edges differently, and scale images by different filters.
    private static let tolerance = 6.5
    private static let smallTolerance = 13.0
    private static let drawn = [
        "cairo", "reportlab", "fpdf", "ghostscript", "objects", "turned", "cropped", "owner",
    ]

    @Test func `All fixtures are known`() {
        #expect(Set(Fixtures.names(in: "PDF", ending: "pdf")) == Set(Self.drawn + ["locked"]))
    }

    @Test(arguments: drawn)
    func `The first page is drawn at its own size as another renderer draws it`(name: String) async throws {
        let image = try await PDFHarness.file(name)
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("PDF/\(name).ppm"))
        #expect(difference.mean <= Self.tolerance, "\(difference)")
        #expect(image.metadata.isVector && image.format == .pdf && !image.metadata.isThumbnail && !image.hasAlpha)
        #expect(image.metadata.frameCount == 1 && image.orientation == .up)
        let properties = try await PDFHarness.properties(Fixtures.data("PDF/\(name).pdf"))
        #expect((properties.width, properties.height) == (image.pixelWidth, image.pixelHeight))
        #expect(properties.format == .pdf && !properties.hasAlpha)
        #expect(properties.pageCount == (["reportlab", "objects", "turned"].contains(name) ? 3 : 1))
        #expect(image.metadata.pageCount == properties.pageCount)
    }

    @Test(arguments: ["reportlab", "objects", "turned"], [1, 2])
    func `Any page is drawn at its own size`(name: String, page: Int) async throws {
        let image = try await PDFHarness.file(name) { $0.page = page }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("PDF/\(name)-page-\(page + 1).ppm"))
        #expect(difference.mean <= Self.tolerance, "\(difference)")
        #expect((image.metadata.sourceWidth, image.metadata.sourceHeight) == (image.pixelWidth, image.pixelHeight))
        #expect(image.metadata.pageCount == 3)
    }

    @Test(arguments: [("cairo", 151, 200), ("cairo", 90, 60), ("fpdf", 200, 200)])
    func `A thumbnail is drawn at the requested size, not scaled`(name: String, width: Int, height: Int) async throws {
        let image = try await PDFHarness.file(name) {
            $0.thumbnailPixelSize = ImageSize(width: width, height: height)
            $0.preserveAspectRatio = false
        }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("PDF/\(name)-\(width)x\(height).ppm"))
        #expect(difference.mean <= Self.tolerance, "\(difference)")
        #expect(image.metadata.isThumbnail && image.metadata.isVector)
    }

    @Test(arguments: [("cairo", 15, 20), ("fpdf", 24, 24)])
    func `A thumbnail is smaller than the page`(name: String, width: Int, height: Int) async throws {
        let image = try await PDFHarness.file(name) { $0.thumbnailPixelSize = ImageSize(width: width, height: height) }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("PDF/\(name)-\(width)x\(height).ppm"))
        #expect(difference.mean <= Self.smallTolerance, "\(difference)")
    }

    @Test func `Lines stay sharp at any size`() async throws {
        let data = PDFFileBuilder("0 0 32 64 re f").data
        for side in [64, 640, 3000] {
            let image = try await PDFHarness.decode(data) {
                $0.thumbnailPixelSize = ImageSize(width: side, height: side)
            }
            #expect(image.bitmap.premultipliedRGBA(x: side / 2 - 1, y: side / 2) == [0, 0, 0, 255], "\(side)")
            #expect(image.bitmap.premultipliedRGBA(x: side / 2, y: side / 2) == [255, 255, 255, 255], "\(side)")
        }
    }

    @Test func `A thumbnail fits its box, or covers it`() async throws {
        let fitted = try await PDFHarness.file("cairo") { $0.thumbnailPixelSize = ImageSize(width: 300, height: 160) }
        #expect((fitted.pixelWidth, fitted.pixelHeight) == (121, 160))
        let covering = try await PDFHarness.file("cairo") {
            $0.thumbnailPixelSize = ImageSize(width: 121, height: 121)
            $0.thumbnailCovers = true
        }
        #expect((covering.pixelWidth, covering.pixelHeight) == (121, 160))
        #expect(fitted.premultipliedPixels == covering.premultipliedPixels)
        let limited = try await PDFHarness.file("cairo") { $0.scaleDownLimitBytes = 1200 }
        #expect(limited.pixelWidth * limited.pixelHeight <= 300 && limited.metadata.scaleDownLimitBytes == 1200)
    }

    @Test(arguments: PixelFormat.allCases)
    func `Pixels are the same in every format, and opaque`(format: PixelFormat) async throws {
        let plain = try await PDFHarness.file("cairo")
        #expect(plain.bitmap.pixelFormat == .rgb8)
        let image = try await PDFHarness.file("cairo") { $0.pixelFormat = format }
        #expect(image.bitmap.pixelFormat == format && image.metadata == plain.metadata)
        guard format != .rgbaHalfPremultiplied else { return }
        #expect(image.bitmap.components == plain.bitmap.components)
    }

    @Test(arguments: [3, 1 << 40, -1])
    func `A page that does not exist is an error, and the worker stays`(page: Int) async throws {
        let error = await #expect(throws: WebImageError.self) {
            try await PDFHarness.file("reportlab") { $0.page = page }
        }
        #expect(error?.code == .pageNotFound && error?.message.contains("3 pages") == true, "\(error as Any)")
    }

    @Test func `Formats without pages have no second one`() throws {
        var options = ImageDecodeOptions()
        options.page = 1
        for (file, coder) in [
            ("JPEG/gray.jpg", JPEGCoder()), ("PNG/photo-rgb.png", PNGCoder()), ("GIF/animated.gif", GIFCoder()),
            ("WebP/lossy.webp", WebPCoder()),
        ] as [(String, any ImageCoder)] {
            let error = #expect(throws: WebImageError.self) { try coder.decode(Fixtures.data(file), options: options) }
            #expect(error?.code == .pageNotFound, "\(file) \(error as Any)")
        }
    }

    @Test func `A document that needs a password is an error that says so`() async throws {
        let error = await #expect(throws: WebImageError.self) { try await PDFHarness.file("locked") }
        #expect(error?.code == .badImageData && error?.message.contains("needs a password") == true)
    }

    @Test func `Fonts that are not embedded come from the system, as do tables of characters`() async throws {
        let font = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"
        let chinese =
            "<</Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [<</Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo <</Registry (Adobe) /Ordering (GB1) /Supplement 2>>>>]>>"
        let data = PDFFileBuilder(
            "BT /F 30 Tf 2 34 Td (Wg) Tj ET BT /C 20 Tf 2 4 Td <4E2D> Tj ET",
            resources: "/Font <</F 5 0 R /C 6 0 R>>",
            objects: [font, chinese]
        ).data
        let image = try await PDFHarness.decode(data)
        let dark = (0..<30).flatMap { y in (0..<64).map { x in image.bitmap.premultipliedRGBA(x: x, y: y)[0] } }
        #expect(dark.contains { $0 < 80 } || access("/usr/share/fonts/truetype", F_OK) != 0)
    }
}

/// Loads of pages.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(2))
)
struct PDFLoadTests {
    private let directory = TemporaryDirectory()

    private func manager() -> WebImageManager {
        WebImageManager(cache: ImageCache(directory: directory.path), loader: DataURLImageLoader.shared)
    }

    private func context(_ page: Int?, _ side: Int? = nil) -> WebImageContext {
        var context = WebImageContext()
        let coders = ImageCodersManager()
        WebImageFormats.registerAll(in: coders)
        context.imageCoder = coders
        context.page = page
        context.thumbnailPixelSize = side.map { ImageSize(width: $0, height: $0) }
        return context
    }

    @Test func `Pages are cached apart, in memory and on disk, also as thumbnails`() async throws {
        let url = try #require(
            URL(string: "data:application/pdf;base64,\(PDFFileBuilder.pages(4).base64EncodedString())")
        )
        let keys = [nil, 1, 2].flatMap { page in
            [nil, 50].map { manager().cacheKey(for: url, context: context(page, $0)) }
        }
        #expect(Set(keys).count == 6)
        for _ in 0..<2 {
            // The second time from disk.
            let manager = manager()
            for _ in 0..<2 {
                for page in [2, nil, 1, 3, 0] {
                    let image = try await manager.image(with: url, context: context(page))
                    #expect(image.pixelWidth == 10 * (page ?? 0) + 10, "\(page as Any)")
                    let small = try await manager.image(with: url, context: context(page, 100))
                    let (width, height) = (10 * (page ?? 0) + 10, 50)
                    #expect(small.pixelWidth * height == small.pixelHeight * width, "\(page as Any)")
                }
            }
            await (manager.imageCache as? ImageCache)?.flush()
        }
    }

    @Test func `A page that does not exist does not keep others from being loaded`() async throws {
        let url = try #require(
            URL(string: "data:application/pdf;base64,\(PDFFileBuilder.pages(2).base64EncodedString())")
        )
        let manager = manager()
        let error = await #expect(throws: WebImageError.self) {
            try await manager.image(with: url, context: context(7))
        }
        #expect(error?.code == .pageNotFound && error?.url == url)
        #expect(try await manager.image(with: url, context: context(1)).pixelWidth == 20)
    }

    @Test func `Pages are transformed only where vector images are, and stay apart`() async throws {
        let url = try #require(
            URL(string: "data:application/pdf;base64,\(PDFFileBuilder.pages(3).base64EncodedString())")
        )
        let manager = manager()
        for page in [2, 1, nil] {
            var context = context(page)
            context.imageTransformer = .transformer(RotationTransformer(angle: .pi / 2, fitSize: true))
            let plain = try await manager.image(with: url, context: context)
            #expect((plain.pixelWidth, plain.pixelHeight) == (10 * (page ?? 0) + 10, 50))
            context.originalQueryCacheType = .all
            context.originalStoreCacheType = .all
            let turned = try await manager.image(with: url, options: .transformVectorImage, context: context)
            #expect((turned.pixelWidth, turned.pixelHeight) == (50, 10 * (page ?? 0) + 10))
        }
    }
}
