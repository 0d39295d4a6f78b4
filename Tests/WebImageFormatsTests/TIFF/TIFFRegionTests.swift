import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageTIFF

@Suite(.tags(.addressSanitizer)) struct TIFFRegionTests {
    private static let tiled = Fixtures.names(in: "TIFF", ending: "tiff").filter { $0.contains("tiles") }

    @Test func `All tiled fixtures were found`() { #expect(Self.tiled.count >= 3) }

    @Test(arguments: tiled)
    func `A region of tiles has the pixels of the whole image`(name: String) async throws {
        let data = try Fixtures.data("TIFF/\(name).tiff")
        let coders = ImageCodersManager(coders: [TIFFCoder()])
        let reader = try await coders.regionReader(for: data)
        let image = try TIFFCoder().decode(data, options: ImageDecodeOptions())
        let (width, height) = (Double(image.pixelWidth), Double(image.pixelHeight))
        let rects = [
            ImageRect(x: 0, y: 0, width: width, height: height),
            ImageRect(x: width / 2, y: height / 2, width: width / 3, height: height / 3),
            ImageRect(x: width - 2, y: height - 1, width: 9, height: 9),
        ]
        for rect in rects {
            let region = try await reader.read(rect, level: 0)
            #expect(try region.bitmap.pixels == image.cropped(to: rect).bitmap.pixels, "\(rect)")
        }
    }
}
