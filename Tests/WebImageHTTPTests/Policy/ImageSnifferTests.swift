import FoundationEssentials
import HTTPTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP

@Suite struct ImageSnifferTests {
    private let sniffer = ImageSniffer(formats: SourcePolicy.untrusted.formats)

    private func verdict(_ bytes: [UInt8], isWhole: Bool = false) -> ImageSniffer.Verdict {
        sniffer.verdict(Data(bytes), isWhole: isWhole)
    }

    private func verdict(_ text: String, isWhole: Bool = false) -> ImageSniffer.Verdict {
        verdict(Array(text.utf8), isWhole: isWhole)
    }

    private func isRefused(_ verdict: ImageSniffer.Verdict) -> Bool {
        guard case .refused(let error) = verdict else { return false }
        return error.code == .badImageData
    }

    @Test func `PDF after other bytes is recognized, however few arrive at a time, and refused after too many`() {
        let sniffer = ImageSniffer(formats: [.pdf, .png])
        let junk = Data(String(repeating: "junk\n", count: 200).utf8)
        let body = junk + Data("%PDF-1.7\n".utf8)
        for count in 1..<body.count {
            let verdict = sniffer.verdict(body.prefix(count), isWhole: false)
            #expect(verdict == (count < junk.count + 7 ? .undecided : .image(.pdf)), "\(count)")
        }
        #expect(sniffer.verdict(body, isWhole: true) == .image(.pdf))
        #expect(
            isRefused(sniffer.verdict(junk + junk, isWhole: false)) && isRefused(sniffer.verdict(junk, isWhole: true))
        )
        #expect(isRefused(verdict(Array(junk))), "a policy without PDF waits for no more")
    }

    @Test func `A raw file that begins like TIFF is recognized at its end, and refused by policies without raw files`()
        throws
    {
        let body = try Fixtures.data("RAW/pidng.dng")
        #expect(ImageFormat(detecting: body) == .raw && ImageFormat(detecting: body.prefix(64)) == .tiff)
        for formats: Set<ImageFormat> in [[.raw], [.raw, .png]] {
            let sniffer = ImageSniffer(formats: formats)
            #expect(sniffer.verdict(body.prefix(64), isWhole: false) == .undecided)
            #expect(sniffer.verdict(body, isWhole: true) == .image(.raw) && sniffer.problem(of: body) == nil)
        }
        #expect(sniffer.verdict(body.prefix(64), isWhole: false) == .image(.tiff))
        #expect(sniffer.problem(of: body)?.code == .unsupportedFormat)
    }

    private static let pictures: [(String, ImageFormat)] = [
        ("JPEG/gray.jpg", .jpeg), ("PNG/photo-rgb.png", .png), ("GIF/animated-120.gif", .gif),
        ("WebP/lossy.webp", .webp),
    ]

    @Test("An image is recognized by its first bytes, however few arrive at a time", arguments: pictures)
    func knownImages(name: String, format: ImageFormat) throws {
        let bytes = [UInt8](try Fixtures.data(name))
        for count in 0..<32 { #expect(verdict(Array(bytes.prefix(count))) == .undecided) }
        #expect(verdict(Array(bytes.prefix(32))) == .image(format))
        #expect(verdict(bytes, isWhole: true) == .image(format))
        #expect(sniffer.problem(of: Data(bytes)) == nil)
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><body>404</body></html>", "<html>", "  \n<?xml version=\"1.0\"?><rss>", "\u{FEFF}<html>",
        "{\"secret\": \"" + String(repeating: "x", count: 40) + "\"}", "%PDF-1.7" + String(repeating: " ", count: 40),
        "#!/bin/sh\n" + String(repeating: "echo\n", count: 10), String(repeating: "\u{1}", count: 40),
        "<?xml version=\"1.0\"?><!-- svg --><html>", "<script>svg</script>",
    ]) func `Data that is not an image is refused as early as possible`(text: String) {
        let answer = verdict(text)
        if text.hasPrefix("%PDF") {
            guard case .refused(let error) = answer else {
                Issue.record("a PDF is taken")
                return
            }
            #expect(error.code == .unsupportedFormat && error.message.contains("PDF"))
        } else {
            #expect(isRefused(answer), "\(text): \(answer)")
        }
    }

    @Test func `Compressed bytes are not an image`() {
        #expect(isRefused(verdict(gzipOfZeros(megabytes: 1))))
    }

    @Test(arguments: [
        "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>",
        "<?xml version=\"1.0\"?>\n<!-- > <html> -->\n<svg:svg xmlns:svg=\"x\"/>",
        "\u{FEFF} <!DOCTYPE svg [ <!ENTITY a \"<html>\"> ]><svg a=\"b>c\"/>",
    ]) func `An SVG is recognized by its root element, for any division of the bytes`(text: String) {
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            let answer = verdict(Array(bytes.prefix(count)))
            #expect(
                answer == .undecided || answer == .image(.svg),
                "\(String(decoding: bytes.prefix(count), as: UTF8.self))"
            )
        }
        #expect(verdict(bytes) == .image(.svg) && verdict(bytes, isWhole: true) == .image(.svg))
    }

    @Test func `A document without a root is refused after 64 KiB`() {
        let comment = "<!--" + String(repeating: " ", count: 60_000)
        #expect(verdict(comment) == .undecided)
        #expect(isRefused(verdict(comment + String(repeating: " ", count: 6000))))
        #expect(isRefused(verdict(comment + String(repeating: "<a ", count: 2000))))
        #expect(verdict(String(repeating: " ", count: 1000)) == .undecided)
        #expect(isRefused(verdict(String(repeating: "\n", count: 65_536))))
        #expect(isRefused(verdict("", isWhole: true)))
    }

    @Test func `Only the listed formats are accepted`() throws {
        let jpeg = ImageSniffer(formats: [.jpeg])
        #expect(jpeg.problem(of: try Fixtures.data("JPEG/gray.jpg")) == nil)
        let png = try Fixtures.data("PNG/photo-rgb.png")
        #expect(jpeg.problem(of: png)?.code == .unsupportedFormat)
        guard case .refused(let error) = jpeg.verdict(png, isWhole: false) else {
            Issue.record("a PNG is taken")
            return
        }
        #expect(error.message.contains("PNG"))
    }

    @Test func `A list of brands is waited for, but not forever`() {
        func file(_ brands: [String], size: Int) -> [UInt8] {
            let length = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
            return length + Array("ftypmif1".utf8) + [0, 0, 0, 0] + brands.flatMap { Array($0.utf8) }
        }
        let whole = file(["mif1", "miaf", "avif", "xxxx", "yyyy"], size: 36)
        #expect(whole.count == 36)
        #expect(verdict(Array(whole.prefix(33))) == .undecided)
        #expect(verdict(whole) == .image(.avif))
        // A list up to the end of the file is as good as an endless one.
        let open = file(["mif1", "miaf", "miaf", "miaf", "avif"], size: 0)
        #expect(verdict(Array(open.prefix(32))) == .undecided)
        #expect(verdict(open + [UInt8](repeating: 0, count: 1100)) == .image(.avif))
        let endless = file([String](repeating: "zzzz", count: 300), size: 0x7FFF_FFFF)
        #expect(verdict(Array(endless.prefix(1000))) == .undecided)
        #expect(verdict(endless) == .image(.heif))
    }

    @Test(
        arguments: [
            (["Transfer-Encoding": "chunked"], nil), (["Content-Length": "5"], nil), ([:], nil),
            (["Transfer-Encoding": "Chunked"], nil),
            (["Transfer-Encoding": "gzip"], "transfer coding"),
            (["Transfer-Encoding": "gzip, chunked"], "transfer coding"),
            (["Transfer-Encoding": "chunked, chunked"], "transfer coding"),
            (["Transfer-Encoding": "identity"], "transfer coding"),
            (["Transfer-Encoding": "chunked", "Content-Length": "5"], "both a length"),
            (["Content-Length": "5, 6"], "announced length"),
            (["Content-Length": "5, 5"], nil), (["Content-Length": "-5"], "announced length"),
            (["Content-Length": "+5"], "announced length"),
            (["Content-Length": "0x5"], "announced length"), (["Content-Length": ""], "announced length"),
        ] as [(HTTPHeaders, String?)]
    )
    func `A body may have one length, and no transfer compression`(
        headers: HTTPHeaders,
        words: String?
    ) {
        let problem = ResponseFraming.problem(of: headers)
        #expect((problem == nil) == (words == nil))
        if let words { #expect(problem?.message.contains(words) == true && problem?.code == .transportFailed) }
    }
}
