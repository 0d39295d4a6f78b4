import FoundationEssentials
import TestSupport
import WebImage
import WebImageFormats
import WebImagePDF

@testable import WebImageIsolation

/// A document from its objects, with a correct table of them. The first is the catalogue.
struct PDFFileBuilder {
    private(set) var objects: [String]

    /// A document of one page of 64 by 64 points, whose contents these are.
    ///
    /// - Parameters:
    ///   - resources: the content of the page's dictionary of resources, which may refer to the objects from number 5 on.
    ///   - page: more entries of the page's dictionary.
    init(
        _ contents: String,
        resources: String = "",
        page: String = "",
        catalog: String = "",
        box: String = "0 0 64 64",
        objects more: [String] = []
    ) {
        objects = [
            "<</Type /Catalog /Pages 2 0 R \(catalog)>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
            "<</Type /Page /Parent 2 0 R /MediaBox [\(box)] /Contents 4 0 R /Resources <<\(resources)>> \(page)>>",
            Self.stream(contents),
        ]
        objects += more
    }

    init(objects: [String]) { self.objects = objects }

    static func stream(_ contents: String, _ entries: String = "") -> String {
        "<<\(entries) /Length \(contents.utf8.count)>>\nstream\n\(contents)\nendstream"
    }

    static func form(_ contents: String, _ resources: String = "") -> String {
        stream(contents, "/Type /XObject /Subtype /Form /BBox [0 0 64 64] /Resources <<\(resources)>>")
    }

    var data: Data {
        var text = "%PDF-1.7\n"
        var table = "0000000000 65535 f \n"
        for (index, object) in objects.enumerated() {
            let offset = String(text.utf8.count)
            table += String(repeating: "0", count: 10 - offset.count) + offset + " 00000 n \n"
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = text.utf8.count
        text += "xref\n0 \(objects.count + 1)\n\(table)trailer\n<</Size \(objects.count + 1) /Root 1 0 R>>\nstartxref\n"
        return Data((text + "\(start)\n%%EOF\n").utf8)
    }

    /// A document of many pages, each 10 points wider than 10 times its index.
    static func pages(_ count: Int) -> Data {
        let kids = (0..<count).map { "\($0 + 3) 0 R" }.joined(separator: " ")
        let pages = (0..<count).map { "<</Type /Page /Parent 2 0 R /MediaBox [0 0 \(10 * ($0 % 100) + 10) 50]>>" }
        let tree = "<</Type /Pages /Kids [\(kids)] /Count \(count)>>"
        return PDFFileBuilder(objects: ["<</Type /Catalog /Pages 2 0 R>>", tree] + pages).data
    }
}

/// Documents drawn by the program, in workers.
enum PDFHarness {
    static func coder(seconds: Double = 60, memory: Int? = nil) -> IsolatedImageCoder {
        var isolation = DecodeIsolation(formats: [.pdf])
        (isolation.pdfWorkerPath, isolation.maximumDecodeDuration) = (DecoderProgram.pdfPath, seconds)
        if let memory { isolation.maximumMemoryByteCount = memory }
        return IsolatedImageCoder(isolation, base: PDFCoder())
    }

    static func decode(
        _ data: Data,
        seconds: Double = 60,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) async throws(WebImageError) -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try await Image.decode(data, options: options, coder: coder(seconds: seconds))
    }

    static func file(
        _ name: String,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) async throws -> Image { try await decode(Fixtures.data("PDF/\(name).pdf"), change) }

    static func properties(_ data: Data) async throws(WebImageError) -> ImageProperties {
        try await ImageProperties.read(from: data, coder: coder())
    }

    /// A blue square at the left bottom.
    static let good = PDFFileBuilder("0 0 1 rg 0 0 32 32 re f").data

    /// Returns the result of a decode, and checks that another document can be drawn then.
    static func outcome(
        _ data: Data,
        seconds: Double,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) async throws -> Result<Image, WebImageError> {
        let outcome: Result<Image, WebImageError>
        do throws(WebImageError) {
            outcome = .success(try await decode(data, seconds: seconds, change))
        } catch { outcome = .failure(error) }
        let next = try await decode(good)
        guard next.bitmap.premultipliedRGBA(x: 9, y: 50) == [0, 0, 255, 255] else {
            throw WebImageError(.badImageData, "the next document is drawn differently")
        }
        return outcome
    }
}
