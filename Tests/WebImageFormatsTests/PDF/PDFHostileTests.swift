import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImagePDFDecoder

/// Documents that are damaged, or meant to cost time, memory or secrets.
@Suite(
    .enabled(
        if: DecoderProgram.isSupported,
        "this system does not confine processes, or this is a sanitized build"
    ),
    .timeLimit(.minutes(10))
)
struct PDFHostileTests {
    /// Forms of which each draws the next ten times.
    private static func laughs(_ depth: Int) -> Data {
        let forms = (0..<depth).map { level -> String in
            guard level < depth - 1 else { return PDFFileBuilder.form("0 0 64 64 re f") }
            let draws = String(repeating: "/X Do ", count: 10)
            return PDFFileBuilder.form(draws, "/XObject <</X \(level + 6) 0 R>>")
        }
        return PDFFileBuilder("/X Do", resources: "/XObject <</X 5 0 R>>", objects: forms).data
    }

    private static func image(_ width: Int, _ height: Int, _ color: String = "/DeviceRGB", bits: Int = 8) -> Data {
        let entries =
            "/Type /XObject /Subtype /Image /Width \(width) /Height \(height) /BitsPerComponent \(bits) /ColorSpace \(color) /Filter /RunLengthDecode"
        let rows = PDFFileBuilder.stream(String(repeating: "\u{1}ab", count: 1000), entries)
        return PDFFileBuilder("64 0 0 64 0 0 cm /I Do", resources: "/XObject <</I 5 0 R>>", objects: [rows]).data
    }

    private static func tiling(_ step: String) -> Data {
        let pattern = PDFFileBuilder.stream(
            "0 0 9 9 re f",
            "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep \(step) /YStep \(step) /Resources <<>>"
        )
        return PDFFileBuilder(
            "/Pattern cs /P scn 0 0 64 64 re f",
            resources: "/Pattern <</P 5 0 R>>",
            objects: [pattern]
        ).data
    }

    private static let repeated = PDFFileBuilder.form(
        String(repeating: "/X Do ", count: 4),
        "/XObject <</X 5 0 R>>"
    )

    private static let bombs: [String: Data] = [
        "forms that draw forms": laughs(12),
        "a form that draws itself": PDFFileBuilder(
            "/X Do",
            resources: "/XObject <</X 5 0 R>>",
            objects: [repeated]
        ).data,
        "an image of 900 megapixels": image(30_000, 30_000),
        "an image of two billion bits": image(2_000_000_000, 1, "/DeviceGray", bits: 1),
        "an image of many megapixels": image(60_000, 60_000, "/DeviceGray", bits: 1),
        "a pattern with tiny steps": tiling("0.0001"),
        "deep arrays": PDFFileBuilder(String(repeating: "[", count: 3_000_000)).data,
        "deep dictionaries": PDFFileBuilder("", page: String(repeating: "/A <<", count: 500_000)).data,
        "states that are never restored": PDFFileBuilder(String(repeating: "q ", count: 2_000_000)).data,
        "groups in groups": PDFFileBuilder(
            "/X Do",
            resources: "/XObject <</X 5 0 R>>",
            objects: (0..<2000).map {
                PDFFileBuilder.stream(
                    "/X Do 0 0 9 9 re f",
                    "/Type /XObject /Subtype /Form /BBox [0 0 64 64] /Group <</S /Transparency /I true>> /Resources <</XObject <</X \($0 + 6) 0 R>>>>"
                )
            }
        ).data,
    ]

    @Test(arguments: bombs.keys.sorted())
    func `A bomb is drawn, or is an error within the limits of time and memory, and the next document is drawn`(
        name: String
    ) async throws {
        let data = try #require(Self.bombs[name])
        let start = ContinuousClock.now
        let outcome = try await PDFHarness.outcome(data, seconds: 1) {
            $0.thumbnailPixelSize = ImageSize(width: 1000, height: 1000)
        }
        // A start takes long on a busy machine, and a worker that has drawn other documents is replaced once.
        #expect(ContinuousClock.now - start < .seconds(60))
        guard case .failure(let error) = outcome else { return }
        let codes: [WebImageError.Code] = [
            .decodeTimedOut, .badImageData, .limitExceeded, .outOfMemory, .decoderCrashed,
        ]
        #expect(codes.contains(error.code), "\(error)")
    }

    @Test func `A drawing that takes too long ends at the time limit of the options, too`() async throws {
        let error = await #expect(throws: WebImageError.self) {
            try await PDFHarness.decode(Self.laughs(12)) { $0.limits.maximumDecodeDuration = 0.5 }
        }
        #expect(error?.code == .decodeTimedOut && error?.message.contains("0.5 s") == true, "\(error as Any)")
    }

    @Test func `Ten thousand pages are counted, and the last is drawn as fast as any`() async throws {
        let data = PDFFileBuilder.pages(10_000)
        #expect(try await PDFHarness.properties(data).pageCount == 10_000)
        let image = try await PDFHarness.decode(data, seconds: 20) { $0.page = 9999 }
        #expect((image.pixelWidth, image.pixelHeight) == (1000, 50) && image.metadata.pageCount == 10_000)
    }

    @Test(arguments: ["2000000000", "-5", "99999999999999999999"])
    func `A wrong number of pages does no harm`(count: String) async throws {
        let data = PDFFileBuilder(objects: [
            "<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count \(count)>>",
            "<</Type /Page /Parent 2 0 R /MediaBox [0 0 20 20]>>",
        ]).data
        let outcome = try await PDFHarness.outcome(data, seconds: 5)
        guard case .failure(let error) = outcome else { return }
        #expect([.badImageData, .pageNotFound].contains(error.code), "\(error)")
    }

    @Test func `A huge page is refused at its own size, and drawn as a thumbnail`() async throws {
        let data = PDFFileBuilder("0 0 500000 1000000 re f", box: "0 0 1000000 1000000").data
        let error = await #expect(throws: WebImageError.self) { try await PDFHarness.decode(data) }
        #expect(error?.code == .limitExceeded, "\(error as Any)")
        let image = try await PDFHarness.decode(data) { $0.thumbnailPixelSize = ImageSize(width: 100, height: 100) }
        #expect((image.pixelWidth, image.pixelHeight) == (100, 100))
        #expect(image.bitmap.premultipliedRGBA(x: 20, y: 50) == [0, 0, 0, 255])
        let tall = await #expect(throws: WebImageError.self) {
            try await PDFHarness.decode(PDFHarness.good) {
                $0.thumbnailPixelSize = ImageSize(width: 40_000, height: 40)
                $0.preserveAspectRatio = false
                $0.limits.maximumSideLength = 100_000
            }
        }
        #expect(tall?.code == .limitExceeded)
    }

    private static let actions: [(name: String, catalog: String, page: String)] = [
        ("a script", "/OpenAction <</S /JavaScript /JS (while \\(true\\) {})>>", ""),
        ("a program", "/OpenAction <</S /Launch /F (/bin/true)>>", "/AA <</O <</S /Launch /F (/bin/true)>>>>"),
        (
            "a link", "/OpenAction <</S /URI /URI (http://127.0.0.1:9/)>>",
            "/AA <</O <</S /URI /URI (http://127.0.0.1:9/)>>>>"
        ),
        ("a form sent away", "/OpenAction <</S /SubmitForm /F (http://127.0.0.1:9/)>>", ""),
        ("another file", "/OpenAction <</S /GoToR /F (/etc/passwd) /D [0 /Fit]>>", ""),
        (
            "an annotation with all of them", "",
            "/Annots [<</Type /Annot /Subtype /Link /Rect [0 0 64 64] /A <</S /JavaScript /JS (1)>>>> <</Type /Annot /Subtype /Screen /Rect [0 0 9 9] /A <</S /Rendition /OP 0 /R <</S /MR /C <</S /MCD /D (/etc/passwd)>>>>>>>>]"
        ),
    ]

    @Test(arguments: actions.map(\.name))
    func `Actions do nothing`(name: String) async throws {
        let action = try #require(Self.actions.first { $0.name == name })
        let data = PDFFileBuilder("0 0 1 rg 0 0 32 32 re f", page: action.page, catalog: action.catalog).data
        let image = try await PDFHarness.decode(data)
        #expect(image.bitmap.premultipliedRGBA(x: 20, y: 50) == [0, 0, 255, 255])
    }

    @Test func `Streams in other files are not read`() async throws {
        let directory = TemporaryDirectory()
        let secret = directory.path("secret")
        try Data("0 1 0 rg 0 0 64 64 re f".utf8).write(to: URL(fileURLWithPath: secret))
        let outside = "<</Length 0 /F (\(secret))>>\nstream\n\nendstream"
        var objects = PDFFileBuilder("").objects
        objects[3] = outside
        let image = try await PDFHarness.decode(PDFFileBuilder(objects: objects).data)
        #expect(image.bitmap.premultipliedRGBA(x: 20, y: 50) == [255, 255, 255, 255])
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: Fixtures.names(in: "PDF", ending: "pdf"))
    func `Damaged files are drawn or are errors, and no worker hangs`(name: String) async throws {
        let data = try Fixtures.data("PDF/\(name).pdf")
        let coder = PDFHarness.coder(seconds: 5)
        // The key of an encrypted document takes long to derive, on purpose.
        let isEncrypted = ["locked", "owner"].contains(name)
        let damaged =
            DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data, count: isEncrypted ? 40 : 200)
        let complaints = await valueOnThread {
            damaged.compactMap { DamagedFiles.complaint(of: coder, about: $0) }
        }
        #expect(complaints.isEmpty)
    }

    // MARK: The estimate

    /// A worker that has estimated a document keeps it open for the decode; the bytes of the next document come to the same place.
    @Test func `A document is never drawn in place of a damaged one of the same length`() async throws {
        let coder = PDFHarness.coder()
        let good = PDFHarness.good
        let damaged = Data("%PDF-1.4\n".utf8) + Data(repeating: 0x20, count: good.count - 9)
        for _ in 0..<3 {
            let error = await valueOnThread {
                _ = try? coder.memoryNeed(of: good, options: ImageDecodeOptions())
                return #expect(throws: WebImageError.self) { try coder.decode(damaged, options: ImageDecodeOptions()) }
            }
            #expect(error?.code == .badImageData, "\(error as Any)")
        }
    }

    @Test func `The largest image is found in the document, without parsing it`() throws {
        let sizes = { (text: String) in PDFImageSizes.largestPixelCount(in: Data(text.utf8)) }
        #expect(sizes("") == 0 && sizes("/Width") == 0 && sizes("/Width 5") == 0 && sizes("/Width /Height 7") == 0)
        #expect(sizes("<</Width 5/Height\n7>>") == 35 && sizes("/Height 3 /Width 2 ... /Width 9 /Height 9") == 81)
        #expect(sizes("/Width 5\(String(repeating: " ", count: 2000))/Height 7") == 0)
        #expect(sizes("/Width 99999999999999999999/Height 99999999999999999999") > 1 << 50)
        #expect(PDFImageSizes.largestPixelCount(in: try Fixtures.data("PDF/fpdf.pdf")) == 96 * 64)
    }
}
